import { Decimal } from 'decimal.js';
import { canonicalJson } from '../../digest.js';
import { badInput } from '../../errors.js';
import type { ModelCatalog, ModelInfo } from '../../model/catalog.js';
import type { ChatDependencies } from '../dependencies.js';
import { checkLength, checkStorable, checkStorableJson } from '../text.js';

export const defaultSystemPrompt = 'You are a helpful assistant.';
export const defaultMaxSteps = 10;
const longestTitle = 200;
const mostMetadataBytes = 65_536;
const mostHistory = 1_000_000;
const mostSteps = 100;
const mostCostUsd = 1_000_000_000;

/** Checks a title; blank becomes none. */
export function readTitle(title: string | null): string | null {
  if (title === null || title.trim() === '') return null;
  if (title.length > longestTitle) {
    throw badInput(`title has ${title.length} characters and the limit is ${longestTitle}: shorten it.`);
  }
  checkStorable('title', title);
  return title;
}

/** Checks a system prompt. Empty is allowed and means none. */
export function readSystemPrompt(systemPrompt: string, maxBytes: number): string {
  checkLength('systemPrompt', systemPrompt, maxBytes);
  checkStorable('systemPrompt', systemPrompt);
  return systemPrompt;
}

/** Metadata as JSON text; null when there is none. */
export function readMetadata(metadata: unknown): string | null {
  if (metadata === null || metadata === undefined) return null;
  const text = canonicalJson(metadata);
  checkLength('metadata', text, mostMetadataBytes);
  checkStorableJson('metadata', metadata);
  return text;
}

function readInteger(name: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw badInput(`${name} is ${value}: give a whole number from ${min} to ${max}.`);
  }
  return value;
}

export const readMaxHistory = (value: number | null) =>
  value === null ? null : readInteger('maxHistory', value, 0, mostHistory);

export const readMaxSteps = (value: number) => readInteger('maxStepsPerTurn', value, 1, mostSteps);

export const readMaxTokens = (value: number | null) =>
  value === null ? null : readInteger('budget.maxTokens', value, 0, Number.MAX_SAFE_INTEGER);

/** A cost limit as a decimal string, to the last digit that the client wrote. */
export function readMaxCost(value: number | null): string | null {
  if (value === null) return null;
  if (!Number.isFinite(value) || value < 0 || value > mostCostUsd) {
    throw badInput(`budget.maxCostUsd is ${value}: give an amount from 0 to ${mostCostUsd} USD, or null for no limit.`);
  }
  const cost = new Decimal(value);
  if (cost.decimalPlaces() > 12) {
    throw badInput(`budget.maxCostUsd is ${value}: give an amount with 12 decimal places at most.`);
  }
  return cost.toFixed(12);
}

/** The limits of a session that names none. */
export const defaultBudget = ({ budgetMaxCostUsd, budgetMaxTokens }: ChatDependencies['settings']) => ({
  maxCostUsd: new Decimal(budgetMaxCostUsd).toFixed(12),
  maxTokens: budgetMaxTokens,
});

export function readTemperature(value: number | null): number | null {
  if (value === null) return null;
  if (!Number.isFinite(value) || value < 0 || value > 2) {
    throw badInput(`temperature is ${value}: give a number from 0 to 2.`);
  }
  return value;
}

export function readMaxOutputTokens(value: number | null, model: ModelInfo): number | null {
  if (value === null) return null;
  return readInteger('maxOutputTokens', value, 1, model.maxOutputTokens ?? model.contextWindow);
}

/** A model of the table. */
export function readModel(id: string, catalog: ModelCatalog): ModelInfo {
  const model = catalog.find(id);
  if (!model) {
    const known = [catalog.default, ...catalog.list().filter((entry) => entry !== catalog.default)].slice(0, 5);
    const names = known.map((entry) => entry.id).join(', ');
    throw badInput(`There is no model of that name here. Query models for all of them, for example ${names}.`);
  }
  return model;
}
