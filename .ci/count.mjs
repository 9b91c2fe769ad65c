// The end of a CI run: which tests failed and why, then, as the closing line, how many passed and failed, as the test runner counted them.
import { existsSync, readFileSync } from 'node:fs'

/** How much of a message is printed: what the test says, and where it stands. */
const MESSAGE_LENGTH = 1_500

const PARTS = ['unit', 'processes', 'node24', 'disk']
const [counted, missing] = [[], []]
for (const part of PARTS) {
  const file = new URL(`../data/${part}-test-results.json`, import.meta.url)
  if (existsSync(file)) counted.push(JSON.parse(readFileSync(file, 'utf8')))
  else missing.push(part)
}
for (const file of counted.flatMap((run) => run.testResults)) {
  const failures = file.assertionResults.filter((test) => test.status === 'failed')
  if (failures.length === 0 && file.status !== 'failed') continue
  console.log(`failed: ${file.name}\n${file.message.slice(0, MESSAGE_LENGTH)}`)
  for (const { fullName, failureMessages } of failures)
    console.log(`  ${fullName}\n${failureMessages.join('\n').slice(0, MESSAGE_LENGTH)}`)
}
const sum = (count) => counted.reduce((total, run) => total + run[count], 0)
const [passed, failed] = [sum('numPassedTests'), sum('numFailedTests')]
if (missing.length > 0) console.log(`without results: ${missing.join(', ')}`)
console.log(`${passed} passed, ${failed} failed`)
if (missing.length > 0 || counted.some((run) => run.numPassedTests === 0) || failed > 0) process.exitCode = 1
