// The closing line of a CI run: how many tests passed and failed, as the test runner counted them.
import { existsSync, readFileSync } from 'node:fs'

const PARTS = ['unit', 'e2e', 'node24', 'browser', 'disk']
const [counted, missing] = [[], []]
for (const part of PARTS) {
  const file = new URL(`../data/${part}-test-results.json`, import.meta.url)
  if (existsSync(file)) counted.push(JSON.parse(readFileSync(file, 'utf8')))
  else missing.push(part)
}
const sum = (count) => counted.reduce((total, run) => total + run[count], 0)
const [passed, failed] = [sum('numPassedTests'), sum('numFailedTests')]
if (missing.length > 0) console.log(`without results: ${missing.join(', ')}`)
console.log(`${passed} passed, ${failed} failed`)
if (missing.length > 0 || counted.some((run) => run.numPassedTests === 0) || failed > 0) process.exitCode = 1
