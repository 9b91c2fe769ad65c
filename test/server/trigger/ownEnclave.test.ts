import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createOwnEnclave } from '../../../src/server/trigger/ownEnclave.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

test('a directory that is gone ends neither the server nor its look after the enclave', async () => {
  const directory = `${await temporaryDirectory()}/enclave`
  const { logger, text } = createLogLines()
  const program = `${directory}/no-program.js`
  const { services } = createOwnEnclave({ directory, program, envFile: '', searchPath: '', logger })
  await rm(directory, { recursive: true })
  await services[0]?.start()
  await eventually('a failed start', () => text().includes('enclave ended'))
  await services[0]?.stop()
  expect(text()).not.toContain('enclave not supervised')
})
