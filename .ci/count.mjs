// The end of a CI run: which tests failed and why, then, as the closing line, how many passed and failed, as the test runner counted them.
import { existsSync, readFileSync } from 'node:fs'

/** How much of a message is printed: what the test says, and where it stands. */
const MESSAGE_LENGTH = 1_500

/** The parts that have run. */
const PARTS = process.argv.slice(2)

/** The files of a part with their tests; null if it has left no results. */
function filesOf(part) {
  const results = new URL(`../data/${part}-test-results.json`, import.meta.url)
  return existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')).testResults : null
}

const testsOf = (files, status) =>
  files.flatMap((file) => file.assertionResults.filter((test) => test.status === status))
const hasFailed = (file) => file.status === 'failed' || testsOf([file], 'failed').length > 0

const counted = PARTS.map(filesOf)
const missing = PARTS.filter((_part, index) => counted[index] === null)
const files = counted.flatMap((part) => part ?? [])
for (const file of files.filter(hasFailed)) {
  console.log(`failed: ${file.name}\n${file.message.slice(0, MESSAGE_LENGTH)}`)
  for (const { fullName, failureMessages } of testsOf([file], 'failed'))
    console.log(`  ${fullName}\n${failureMessages.join('\n').slice(0, MESSAGE_LENGTH)}`)
}
const [passed, failed] = ['passed', 'failed'].map((status) => testsOf(files, status).length)
if (missing.length > 0) console.log(`without results: ${missing.join(', ')}`)
console.log(`${passed} passed, ${failed} failed`)
const isEmpty = counted.some((part) => testsOf(part ?? [], 'passed').length === 0)
if (isEmpty || files.some(hasFailed)) process.exitCode = 1
