import { writeFile } from 'node:fs/promises'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { Envelope } from '../../../src/protocol/envelope.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import type { IntentDomain } from '../../../src/protocol/intentDomain.js'
import type { Job } from '../../../src/protocol/job.js'
import type { PostPolicy } from '../../../src/protocol/sealedRulebook.js'
import { createRunRecords } from '../../../src/server/store/runRecords.js'
import { policyUpdate, signedCall } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { handled } from '../../support/handled.js'
import { bytes32, ORG, setUpInstitution } from '../../support/institution.js'
import {
  chainEnvironment,
  enclaveEnvironment,
  sealOrder,
  startIntakeServer,
} from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { closedUrl } from '../../support/rawServer.js'
import type { Role } from '../../support/roles.js'
import { createScriptedEnclave, type Step } from '../../support/scriptedEnclave.js'
import { signedRulebook } from '../../support/signedRulebooks.js'
import { holdStores, openIds } from '../../support/storedRows.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain(setUpInstitution)

async function setUp(steps: Step[], overrides: Record<string, string> = {}) {
  const directory = await temporaryDirectory()
  const enclave = await createScriptedEnclave(directory)
  await enclave.plan({ policy: steps })
  const environment = {
    ...chainEnvironment(chain()),
    ...enclaveEnvironment(enclave),
    DATA_DIR: `${directory}/data`,
    ...overrides,
  }
  const server = await startIntakeServer(environment, enclave)
  const api = request(server.url)
  return {
    ...server,
    api,
    enclave,
    directory,
    environment,
    post: (envelope: object) => api.post('/policy').send(envelope),
    runsNoted: () => openIds(`${directory}/data`, 'runs'),
  }
}

/** Writes a rulebook on chain as the enclave does. */
async function publish(version: bigint): Promise<void> {
  const admin = chain().account('admin')
  await chain().send('relayer', ...signedCall(chain(), policyUpdate(ORG, admin, { version })))
}

const ACCEPTED: Step = { outcome: 'accepted', orgId: ORG, version: 1 }

describe('POST /policy', () => {
  test('answers after the run with the institution and the version that is on the chain', async () => {
    const { post, enclave, runsNoted } = await setUp([{ ...ACCEPTED, waitMs: 300 }])
    await publish(1n)
    const envelope = await sealOrder('a rulebook')
    const response = await post(envelope)
    expect(response.status).toBe(200)
    expect(response.body).toEqual({ orgId: ORG, version: 1 })
    expect(await enclave.jobs()).toMatchObject([{ job: 'policy', envelope }])
    expect((await enclave.notes()).map(({ event }) => event)).toEqual(['started', 'ended'])
    expect(await runsNoted()).toEqual([])
  })

  test('does not take the word of a run for what is not on the chain', async () => {
    const { post } = await setUp([ACCEPTED])
    const response = await post(await sealOrder('a rulebook'))
    expect([response.status, response.body.code]).toEqual([502, 'enclave-failed'])
  })

  test.each<[string, Step, number, object]>([
    [
      'a rejection',
      { outcome: 'rejected', code: 'not-admin' },
      422,
      { code: 'policy-rejected', reason: 'not-admin' },
    ],
    ['a failure', { outcome: 'failed', code: 'conflict' }, 502, { code: 'enclave-failed' }],
    [
      "the enclave's outage",
      { outcome: 'failed', code: 'chain-unavailable' },
      503,
      { code: 'chain-unavailable' },
    ],
    [
      'a run that is out of time',
      { outcome: 'failed', code: 'out-of-time' },
      504,
      { code: 'enclave-timeout' },
    ],
    [
      'that the institution’s quota is used up',
      { outcome: 'failed', code: 'relay-quota-exhausted' },
      429,
      { code: 'relay-quota-exhausted', quota: 'institution' },
    ],
    ['a crash', { act: 'throw' }, 502, { code: 'enclave-failed' }],
    ['an outcome of another job', { outcome: 'settled' }, 502, { code: 'enclave-failed' }],
    ['an acceptance of nothing', { outcome: 'accepted' }, 502, { code: 'enclave-failed' }],
    ['a hang', { act: 'hang' }, 504, { code: 'enclave-timeout' }],
  ])('answers %s', async (_what, step, status, body) => {
    const { post, runsNoted } = await setUp([step], {
      POLICY_RUN_TIMEOUT: step.act === 'hang' ? '3s' : '60s',
    })
    const response = await post(await sealOrder('a rulebook'))
    expect(response.status).toBe(status)
    expect(response.body).toMatchObject(body)
    expect(await runsNoted()).toEqual([])
  })

  test('starts nothing while the chain is down', async () => {
    const { post, enclave } = await setUp([ACCEPTED], { RPC_URL: 'http://127.0.0.1:9' })
    const response = await post(await sealOrder('a rulebook'))
    expect([response.status, response.body.code]).toEqual([503, 'chain-unavailable'])
    expect(response.headers['retry-after']).toBe('5')
    expect(await enclave.jobs()).toEqual([])
  })

  // It is offered the run several times, a few seconds apart.
  test('answers an enclave that is away', { timeout: 120_000 }, async () => {
    const { post } = await setUp([], { ENCLAVE_URL: await closedUrl() })
    const response = await post(await sealOrder('a rulebook'))
    expect([response.status, response.body.code]).toEqual([502, 'enclave-failed'])
  })

  test('posted five times at once, the same envelope is run once', async () => {
    const { post, api, enclave, directory } = await setUp([])
    await enclave.plan({ policy: [{ ...ACCEPTED, untilFile: `${directory}/go` }] })
    await publish(1n)
    const envelope = await sealOrder('a rulebook')
    const answers = Promise.all(Array.from({ length: 5 }, () => post(envelope)))
    // A later request that is answered: the earlier ones have arrived.
    const go = async () => {
      await eventually('a run', async () => (await enclave.jobs()).length === 1)
      await api.get(`/policy/${ORG}`)
      await writeFile(`${directory}/go`, '')
    }
    const [posted] = await Promise.all([answers, go()])
    expect(posted.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await enclave.jobs()).toHaveLength(1)
    expect((await post(envelope)).status).toBe(200)
    expect(await enclave.jobs()).toHaveLength(2)
  })

  test('of one client, one runs at a time, and the others wait', async () => {
    const { post, enclave, directory } = await setUp([])
    await enclave.plan({ policy: [{ ...ACCEPTED, untilFile: `${directory}/go` }] })
    await publish(1n)
    const envelopes = await Promise.all(['1', '2', '3'].map((content) => sealOrder(content)))
    const go = async () => {
      await eventually('a run', async () => (await enclave.jobs()).length === 1)
      await writeFile(`${directory}/go`, '')
    }
    const [answers] = await Promise.all([Promise.all(envelopes.map(post)), go()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const events = (await enclave.notes()).map(({ event }) => event)
    expect(events).toEqual(['started', 'ended', 'started', 'ended', 'started', 'ended'])
  })

  test('behind a run that hangs, two of a client wait in vain, and the rest is refused at once', async () => {
    const { post, enclave } = await setUp([{ act: 'hang' }], { POLICY_RUN_TIMEOUT: '5s' })
    const envelopes = await Promise.all(Array.from({ length: 6 }, (_, n) => sealOrder(`${n}`)))
    const answers = await Promise.all(envelopes.map(post))
    const [late, busy] = ['504 enclave-timeout', '503 enclave-busy']
    expect(answers.map(({ status, body }) => `${status} ${body.code}`).sort()).toEqual([
      busy,
      busy,
      busy,
      late,
      late,
      late,
    ])
    expect(await enclave.jobs()).toHaveLength(1)
  })

  test('while the storage is down nothing is run', async () => {
    const { post, enclave, directory } = await setUp([ACCEPTED])
    const release = holdStores(`${directory}/data`)
    const response = await post(await sealOrder('a rulebook'))
    release()
    expect([response.status, response.body.code]).toEqual([503, 'storage-unavailable'])
    expect(await enclave.jobs()).toEqual([])
  })

  test('a body that is no envelope is refused', async () => {
    const { api, post, enclave } = await setUp([ACCEPTED])
    const envelope = await sealOrder('a rulebook')
    const bad: [object, string][] = [
      [{ ...envelope, orderId: bytes32('x') }, 'invalid-body'],
      [{}, 'invalid-body'],
      [{ ...envelope, ct: `0x${'00'.repeat(16_385)}` }, 'invalid-envelope'],
      [{ ...envelope, author: { orgId: ORG } }, 'invalid-body'],
    ]
    for (const [body, code] of bad) {
      const response = await post(body)
      expect([response.status, response.body.code]).toEqual([400, code])
    }
    expect((await api.get('/policy')).status).toBe(405)
    expect(await enclave.jobs()).toEqual([])
  })

  test('a run that a server left is cleared away by the next one once it is over', async () => {
    const { post, stop, enclave, environment, directory } = await setUp([], { SHUTDOWN_TIMEOUT: '50ms' })
    await enclave.plan({ policy: [{ ...ACCEPTED, untilFile: `${directory}/go` }] })
    const call = handled(expect(post(await sealOrder('a rulebook'))).rejects.toThrow())
    await eventually('the run', async () => (await enclave.jobs()).length === 1)
    await stop()
    await writeFile(`${directory}/go`, '')
    await call
    const root = `${directory}/data`
    const files = createRunRecords({ ...(await openStores(root)), logger: createLogLines().logger })
    const [left, ...others] = await files.all()
    expect([left?.job, others]).toEqual(['policy', []])
    const long = Math.floor(Date.now() / 1_000) - 120
    const startedAt = new Date(0).toISOString()
    await files.change(left?.runId ?? '', (run) => ({ ...run, startedAt, stopAt: long }))
    await startIntakeServer(environment)
    await eventually('no run', async () => (await files.all()).length === 0)
  })
})

describe('a rulebook whose envelope the admin has signed', () => {
  const envelope = sealOrder('a rulebook')
  const signed = async (role: Role, orgId = ORG, domain?: IntentDomain) =>
    signedRulebook(chain(), role, { orgId, envelope: await envelope, ...(domain && { domain }) })

  test('is run, and the enclave gets nothing but the envelope', async () => {
    const { post, enclave } = await setUp([ACCEPTED])
    await publish(1n)
    expect((await post(await signed('admin'))).body).toEqual({ orgId: ORG, version: 1 })
    expect(await enclave.jobs()).toMatchObject([{ job: 'policy', envelope: await envelope }])
    expect(JSON.stringify(await enclave.jobs())).not.toContain('author')
  })

  test('of two institutions at once, one of each; unsigned ones beside them', async () => {
    const { post, enclave, directory } = await setUp([])
    await enclave.plan({ policy: [{ ...ACCEPTED, untilFile: `${directory}/go` }] })
    await publish(1n)
    const other = nameToBytes32('Second Capital')
    await chain().send('carol', 'registry', 'registerInstitution', other)
    await chain().send('owner', 'registry', 'setAdmitted', other, chain().account('carol'), true)
    const bodies = [
      await signed('admin'),
      await signedRulebook(chain(), 'admin', { orgId: ORG, envelope: await sealOrder('another') }),
      await signed('carol', other),
      await sealOrder('unsigned'),
      await sealOrder('unsigned, too'),
    ]
    const go = async () => {
      await eventually('three runs', async () => (await enclave.jobs()).length === 3)
      await writeFile(`${directory}/go`, '')
    }
    const [answers] = await Promise.all([Promise.all(bodies.map(post)), go()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  })

  const elsewhere = { chainId: 1, escrow: `0x${'01'.repeat(20)}` } as const
  test.each<[string, string, () => Promise<PostPolicy>]>([
    ['a member', 'not-admin', () => signed('alice')],
    ['the admin, for another chain', 'not-admin', () => signed('admin', ORG, elsewhere)],
    [
      'the admin, who signed another envelope',
      'not-admin',
      async () => ({ ...(await signed('admin')), ...(await sealOrder('another')) }),
    ],
    ['the admin of no such institution', 'unknown-institution', () => signed('admin', bytes32('unknown'))],
    [
      'nobody',
      'invalid-signature',
      async () => ({ ...(await envelope), author: { orgId: ORG, sig: `0x${'00'.repeat(65)}` } }),
    ],
  ])('by %s is refused as %s, and never run', async (_signer, reason, body) => {
    const { post, enclave } = await setUp([ACCEPTED])
    const response = await post(await body())
    expect([response.status, response.body.code, response.body.reason]).toEqual([
      422,
      'policy-rejected',
      reason,
    ])
    expect(await enclave.jobs()).toEqual([])
  })
})

describe('a caller that hangs up', () => {
  /** Everything but the caller: one that posts, and one that has hung up once the server has noticed. */
  async function setUpCallers() {
    const server = await setUp([])
    const { url, log, directory, enclave } = server
    await enclave.plan({ policy: [{ ...ACCEPTED, untilFile: `${directory}/go` }] })

    function call(envelope: object) {
      const phone = new AbortController()
      const answer = fetch(`${url}/policy`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(envelope),
        signal: phone.signal,
      })
      const hungUp = handled(expect(answer).rejects.toThrow())
      return async function hangUp() {
        phone.abort()
        await hungUp
        await eventually('the server to notice', () =>
          log.lines().some(({ msg, aborted }) => msg === 'request' && aborted === true),
        )
      }
    }

    return {
      ...server,
      call,
      go: () => writeFile(`${directory}/go`, ''),
      running: (count: number) =>
        eventually(`${count} runs`, async () => (await enclave.jobs()).length === count),
      events: async () => (await enclave.notes()).map(({ event }) => event),
      noFailure: () => expect(log.lines().filter(({ level }) => Number(level) >= 50)).toEqual([]),
    }
  }

  test('does not stop the run', async () => {
    const { call, go, running, events, runsNoted, api, noFailure } = await setUpCallers()
    await publish(1n)
    const hangUp = call(await sealOrder('a rulebook'))
    await running(1)
    await hangUp()
    await go()
    await eventually('the end of the run', async () => (await runsNoted()).length === 0)
    expect(await events()).toEqual(['started', 'ended'])
    expect((await api.get(`/policy/${ORG}`)).body.version).toBe(1)
    noFailure()
  })

  test('can join the run again', async () => {
    const { call, go, running, events, post } = await setUpCallers()
    await publish(1n)
    const envelope = await sealOrder('a rulebook')
    const hangUp = call(envelope)
    await running(1)
    await hangUp()
    const joined = handled(post(envelope).then(({ body }) => body))
    await go()
    expect(await joined).toEqual({ orgId: ORG, version: 1 })
    expect(await events()).toEqual(['started', 'ended'])
  })

  test('while it waits for a permit has its rulebook run in its turn', async () => {
    const { call, go, running, enclave, post, opsUrl, noFailure } = await setUpCallers()
    await publish(1n)
    const first = handled(post(await sealOrder('the first one')).then(({ status }) => status))
    await running(1)
    const envelope = await sealOrder('a rulebook')
    const hangUp = call(envelope)
    await eventually('its wait', async () => {
      const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
      return /^trading_policy_runs_waiting\{queue="unsigned"\} 1$/m.test(metrics)
    })
    await hangUp()
    await go()
    expect(await first).toBe(200)
    await eventually('its run', async () => (await enclave.jobs()).some((job) => hasEnvelope(job, envelope)))
    noFailure()
  })

  test('while the chain is asked for the new version changes nothing', async () => {
    const { call, go, running, runsNoted, log, api, post, noFailure } = await setUpCallers()
    const envelope = await sealOrder('a rulebook')
    const hangUp = call(envelope)
    await running(1)
    await go()
    await eventually('the end of the run', async () => (await runsNoted()).length === 0)
    await hangUp()
    expect(log.text()).not.toContain('request failed')
    await publish(1n)
    expect((await post(envelope)).body).toEqual({ orgId: ORG, version: 1 })
    expect((await api.get(`/policy/${ORG}`)).body.version).toBe(1)
    noFailure()
  })
})

function hasEnvelope(job: Job, envelope: Envelope): boolean {
  return job.job === 'policy' && job.envelope.ct === envelope.ct
}

describe('GET /policy/:orgId', () => {
  test('tells the version on the chain', async () => {
    const { api } = await setUp([])
    expect((await api.get(`/policy/${ORG}`)).body).toEqual({ orgId: ORG, version: 0 })
    await publish(1n)
    const response = await api.get(`/policy/${ORG}`)
    expect(response.body).toEqual({ orgId: ORG, version: 1 })
    const again = await api.get(`/policy/${ORG}`).set('If-None-Match', String(response.headers.etag))
    expect(again.status).toBe(304)
  })

  test('an unknown institution is 404, a malformed id 400, a chain that does not answer 503', async () => {
    const { api } = await setUp([])
    const unknown = await api.get(`/policy/${bytes32('nobody')}`)
    expect([unknown.status, unknown.body.code]).toEqual([404, 'institution-not-found'])
    expect((await api.get('/policy/0x12')).body.code).toBe('invalid-parameter')
    const { api: alone } = await setUp([], { RPC_URL: 'http://127.0.0.1:9' })
    const down = await alone.get(`/policy/${ORG}`)
    expect([down.status, down.body.code, down.headers['retry-after']]).toEqual([
      503,
      'chain-unavailable',
      '5',
    ])
  })
})
