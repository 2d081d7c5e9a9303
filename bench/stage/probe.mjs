// Preloaded into every server with --import, so that all are measured from inside in the same way.
import { Session } from 'node:inspector/promises';
import { answerQuestions } from './answer-questions.mjs';

let profiling;

answerQuestions({
  /** Microseconds of CPU of all threads, kernel included. */
  cpu() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Bytes, after everything that nobody needs is gone. */
  memory() {
    globalThis.gc();
    globalThis.gc();
    const { rss, heapUsed } = process.memoryUsage();
    return { rss, heapUsed };
  },
  async startProfile() {
    profiling = new Session();
    profiling.connect();
    await profiling.post('Profiler.enable');
    await profiling.post('Profiler.setSamplingInterval', { interval: 250 });
    await profiling.post('Profiler.start');
  },
  async stopProfile() {
    const { profile } = await profiling.post('Profiler.stop');
    profiling.disconnect();
    return profile;
  },
});
