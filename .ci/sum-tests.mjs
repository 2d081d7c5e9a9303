// Sums up the JSON reports of several vitest runs: prints "N passed, N failed" and exits with 1 unless all is well.
//
// node sum-tests.mjs FAILED_STEPS REPORT...

import { readFileSync } from 'node:fs';

const [failedSteps, ...reports] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const report of reports) {
  let results;
  try {
    results = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    console.log(`${report} is no report of a test run.`);
    continue;
  }
  passed += results.numPassedTests;
  failed += results.numFailedTests;
  // A file that could not even be loaded has no test that failed.
  failed += results.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length;
}
// A step that failed without a failed test counts as one: nothing red may come out as "0 failed".
if (failed === 0) failed = Number(failedSteps);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
