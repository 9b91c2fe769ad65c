import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createOwnEnclave } from '../../../src/server/trigger/ownEnclave.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const SILENT_PROGRAM = `
import { appendFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
const path = process.env.ENCLAVE_LISTEN.slice('unix:'.length)
rmSync(path, { force: true })
createServer((socket) => socket.destroy()).listen(path, () => {
  appendFileSync(process.env.ENCLAVE_STATE_DIR + '/starts', process.pid + '\\n')
})
`

test('an enclave that listens and answers nothing for half a minute is killed, and started again', async () => {
  const directory = await temporaryDirectory()
  const program = `${directory}/silent.mjs`
  await writeFile(program, SILENT_PROGRAM)
  await writeFile(`${directory}/starts`, '')
  const pids = () => readFileSync(`${directory}/starts`, 'utf8').split('\n').slice(0, -1).map(Number)
  const { logger, text } = createLogLines()
  const { services } = createOwnEnclave({ directory, program, envFile: '', searchPath: '', logger })
  await services[0]?.start()
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await services[0]?.stop()
    const last = pids().at(-1)
    if (last !== undefined) process.kill(last, 'SIGKILL')
  })
  await eventually('its start', () => pids().length === 1)
  expect(text()).not.toContain('hung enclave')
  const realNow = performance.now.bind(performance)
  let ahead = 0
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + ahead)
  await eventually('another start', () => {
    ahead += 10_000
    return pids().length > 1
  })
  expect(text()).toContain('hung enclave killed')
  expect(() => process.kill(pids()[0] ?? 0, 0)).toThrow('ESRCH')
})
