// The closing line of a CI run: how many tests passed and failed, as the test runner counted them.
import { readFileSync } from 'node:fs'

const runs = [
  'test-results.json',
  'node24-test-results.json',
  'browser-test-results.json',
  'disk-test-results.json',
].map((name) => JSON.parse(readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8')))
const sum = (count) => runs.reduce((total, run) => total + run[count], 0)
const [passed, failed] = [sum('numPassedTests'), sum('numFailedTests')]
console.log(`${passed} passed, ${failed} failed`)
if (runs.some((run) => run.numPassedTests === 0) || failed > 0) process.exitCode = 1
