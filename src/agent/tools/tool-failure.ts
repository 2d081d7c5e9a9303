/** What kind of failure it was, for whoever decides what to do about it. */
export type ToolFailureCategory =
  /** The arguments, or the call itself, were not accepted: other arguments may be. */
  | 'validation'
  /** The tool could not be reached, or was lost on the way: a later call may reach it. */
  | 'transport'
  /** It took too long. */
  | 'timeout'
  /** The tool says that it failed. */
  | 'logic';

/** Thrown by a tool whose failure the model is to hear in these words. They become the result of the call, up to its limit. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  constructor(
    readonly code: string,
    readonly category: ToolFailureCategory,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
