// The closing line of a CI run: how many tests passed and failed, as the test runner counted them.
import { readFileSync } from 'node:fs'

const results = JSON.parse(readFileSync(new URL('../data/test-results.json', import.meta.url), 'utf8'))
console.log(`${results.numPassedTests} passed, ${results.numFailedTests} failed`)
if (results.numPassedTests === 0 || results.numFailedTests > 0) process.exitCode = 1
