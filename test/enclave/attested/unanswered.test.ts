// What an attested enclave does not answer or post, because its device, a node, the broker or the server fails: the log says why, once, and
// without their words.
import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ChainUnavailableError } from '../../../src/chain/errors.js'
import { challengeRoute } from '../../../src/enclave/attested/challenge.js'
import { createGathering } from '../../../src/enclave/attested/gathering.js'
import { MachineError } from '../../../src/enclave/attested/machine.js'
import { postEvidence } from '../../../src/enclave/attested/posting.js'
import { reportRoute } from '../../../src/enclave/attested/report.js'
import { signedRoute } from '../../../src/enclave/attested/signedRoute.js'
import { draw, publicKeyOfKey } from '../../../src/operate/secretFiles.js'
import { provisioningSchema, signFounding } from '../../../src/protocol/provisioning.js'
import { signRunMessage } from '../../../src/protocol/runMessage.js'
import { createLogLines } from '../../support/logLines.js'
import { CLOSED_URL, startRawServer } from '../../support/rawServer.js'
import { RUN_SECRET } from '../../support/serverEnvironment.js'

const BUSY = new MachineError('tool-failed', 'nitro-tpm-attest')
const owner = draw.privateKey()
const holders = [owner, draw.privateKey()].map(publicKeyOfKey)

const request = (text = '', query = '', headers = {}) => ({
  text,
  query: new URLSearchParams(query),
  headers,
})
const signed = (kind: 'challenge' | 'report', body: string) => ({
  ...signRunMessage(RUN_SECRET, { kind, runId: randomUUID(), body }),
})

/** The routes of an enclave that waits for its keys, and whose device does what `device` says. */
function awaiting(device: { fails: boolean }) {
  const log = createLogLines()
  let asked = 0
  const { routes } = createGathering({
    config: {
      CHAIN_ID: 1,
      ORDER_ESCROW_ADDRESS: `0x${'11'.repeat(20)}`,
      MASTER_KEY_HOLDERS: holders,
      MASTER_KEY_THRESHOLD: 2,
    },
    evidence: {
      async starting(sealKey) {
        asked++
        if (device.fails) throw BUSY
        return { format: 'test', evidence: 'AA==', statement: JSON.stringify({ sealKey }) }
      },
    },
    isReady: false,
    refusalOfKeys: async () => undefined,
    ready: async () => undefined,
    logger: log.logger,
  })
  const ask = (text?: string) =>
    text === undefined
      ? routes['/provisioning']?.GET?.(request())
      : routes['/provisioning/founding']?.POST?.(request(text))
  return { log, ask, asked: () => asked }
}

it('a device that fails while holders are awaited is logged once, however many ask, and a founding says so too', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const device = { fails: true }
  const { log, ask, asked } = awaiting(device)
  const refused = { msg: 'evidence not given', level: 40, code: 'tool-failed', service: 'nitro-tpm-attest' }
  for (let times = 0; times < 3; times++) expect(await ask()).toBe('evidence-unavailable')
  expect(asked()).toBe(1)
  expect(log.lines()).toMatchObject([refused])
  vi.advanceTimersByTime(5_000)
  device.fails = false
  const { statement } = provisioningSchema.parse(await ask())
  device.fails = true
  const signature = signFounding(JSON.parse(statement).sealKey, owner)
  expect(await ask(JSON.stringify({ signature }))).toBe('evidence-unavailable')
  expect(log.lines()).toMatchObject([refused, refused])
})

it('a challenge that gets no evidence, and a report that is not made, are logged with a code that stays', async () => {
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
    const routes = reportRoute(RUN_SECRET, holders[0] ?? '0x', fail, log.logger)
    return routes['/report']?.POST?.(request('{}', '', signed('report', '{}')))
  }
  expect(await challenged(BUSY)).toBe('evidence-unavailable')
  expect(await challenged(new ChainUnavailableError(2))).toBe('evidence-unavailable')
  expect(await reported(new ChainUnavailableError(2))).toBe('report-unavailable')
  expect(await reported(new TypeError('canary'))).toBe('report-unavailable')
  expect(log.lines()).toMatchObject([
    { msg: 'evidence not given', level: 40, code: 'tool-failed', service: 'nitro-tpm-attest' },
    { msg: 'evidence not given', level: 40, code: 'chain-unavailable' },
    { msg: 'report not made', level: 40, code: 'chain-unavailable' },
    { msg: 'report not made', level: 50, code: 'internal-error', errorName: 'TypeError' },
  ])
  expect(log.text()).not.toContain('canary')
})

it('evidence that is not posted is logged with whose failure it is: a server that is away or refuses it, or the device', async () => {
  const log = createLogLines()
  const posted = async (serverUrl: string, attest: Parameters<typeof postEvidence>[0]['attest']) => {
    const stopping = new AbortController()
    const once = () => {
      stopping.abort()
      return attest()
    }
    const to = { serverUrl, relayToken: 'token', stopping: stopping.signal, logger: log.logger }
    await postEvidence({ attest: once, ...to })
  }
  const attested = async () => ({ format: 'test', evidence: 'AA==', statement: '{}' })
  const refusing = await startRawServer((_request, response) => void response.writeHead(401).end())
  await posted(CLOSED_URL, attested)
  await posted(refusing, attested)
  await posted(refusing, () => Promise.reject(BUSY))
  const line = { msg: 'evidence not posted', level: 40 }
  expect(log.lines()).toMatchObject([
    { ...line, code: 'relay-unavailable', errorCode: 'ECONNREFUSED' },
    { ...line, code: 'relay-refused', status: 401 },
    { ...line, code: 'tool-failed', service: 'nitro-tpm-attest' },
  ])
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
