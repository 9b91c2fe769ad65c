// What an attested enclave does not answer, because its device, a node or the broker fails: a code that stays, and none of their words.
import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import { challengeRoute } from '../../../src/enclave/attested/challenge.js'
import { MachineError } from '../../../src/enclave/attested/machine.js'
import { reportRoute } from '../../../src/enclave/attested/report.js'
import { signedRoute } from '../../../src/enclave/attested/signedRoute.js'
import { draw, publicKeyOfKey } from '../../../src/operate/secretFiles.js'
import { signRunMessage } from '../../../src/protocol/runMessage.js'
import { createLogLines } from '../../support/logLines.js'
import { RUN_SECRET } from '../../support/serverEnvironment.js'

const BUSY = new MachineError('tool-failed', 'nitro-tpm-attest')
const HOLDER = publicKeyOfKey(draw.privateKey())

const request = (text = '', query = '', headers = {}) => ({
  text,
  query: new URLSearchParams(query),
  headers,
})
const signed = (kind: 'challenge' | 'report', body: string) => ({
  ...signRunMessage(RUN_SECRET, { kind, runId: randomUUID(), body }),
})

it('a challenge that gets no evidence, and a report that is not made, have a code that stays, and no words of the failure', async () => {
  const log = createLogLines()
  const nonce = '07'.repeat(32)
  const challenged = (error: Error) => {
    const routes = challengeRoute(RUN_SECRET, () => Promise.reject(error), log.logger)
    return routes['/attestation']?.GET?.(request('', `nonce=${nonce}`, signed('challenge', nonce)))
  }
  const reported = (error: Error) => {
    const fail = () => {
      throw error
    }
    const routes = reportRoute(RUN_SECRET, HOLDER, fail, log.logger)
    return routes['/report']?.POST?.(request('{}', '', signed('report', '{}')))
  }
  expect(await challenged(BUSY)).toBe('evidence-unavailable')
  expect(await challenged(new ChainUnavailableError(2))).toBe('evidence-unavailable')
  expect(await reported(new ChainUnavailableError(2))).toBe('report-unavailable')
  expect(await reported(new TypeError('canary'))).toBe('report-unavailable')
  expect(log.text()).not.toContain('canary')
})

it('a report that does not end is given up after two minutes, and no other begins while it goes on', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const log = createLogLines()
  const { promise, resolve } = Promise.withResolvers<object>()
  const route = signedRoute({
    ...{ kind: 'report', secret: RUN_SECRET, logger: log.logger },
    signed: ({ text }) => text,
    read: (text) => text,
    answer: () => promise,
  })
  const ask = () => route(request('{}', '', signed('report', '{}')))
  const first = ask()
  vi.advanceTimersByTime(120_000)
  expect(await first).toBe('report-unavailable')
  expect(log.lines()).toMatchObject([{ msg: 'report not made', code: 'out-of-time' }])
  const second = ask()
  vi.advanceTimersByTime(120_000)
  expect(await second).toBe('busy')
  const report = { envelope: 'sealed' }
  resolve(report)
  await promise
  await vi.waitFor(async () => expect(await ask()).toEqual(report))
})
