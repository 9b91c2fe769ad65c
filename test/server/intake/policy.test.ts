import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { encodeClaim, envelopeHash, RULEBOOK_AUTHOR } from '../../../src/protocol/sealedRulebook.js'
import { createRunRecords } from '../../../src/server/store/runRecords.js'
import { makeContractWallet } from '../../contracts/fixtures/contractWallet.js'
import { policyUpdate, signedCall } from '../../support/authorizations.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { handled } from '../../support/handled.js'
import { bytes32, ORG, setUpInstitution } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import type { Role } from '../../support/roles.js'
import type { Step } from '../../support/scriptedEnclave.js'
import { serverUnderTest } from '../../support/serverUnderTest.js'
import { signedRulebook } from '../../support/signedRulebooks.js'
import { openIds } from '../../support/storedRows.js'
import { openStores } from '../../support/stores.js'

const chain = useChain(setUpInstitution)
const ACCEPTED: Step = { outcome: 'accepted', orgId: ORG, version: 1 }

async function setUp(steps: Step[] = [ACCEPTED], env: Record<string, string> = {}) {
  const server = await serverUnderTest({ chain: chain(), plan: { policy: steps }, env })
  const { api, enclave, dataDir, directory } = server
  return {
    ...server,
    post: (body: object) => api.post('/policy').send(body),
    runsNoted: () => openIds(dataDir, 'runs'),
    running: (count: number) =>
      eventually(`${count} runs`, async () => (await enclave.jobs()).length === count),
    /** From now on, runs are accepted once `go` is called. */
    async hold() {
      await enclave.plan({ policy: [{ ...ACCEPTED, untilFile: `${directory}/go` }] })
      return () => writeFile(`${directory}/go`, '')
    },
  }
}

/** Writes a rulebook on chain as the enclave does. */
async function publish(version: bigint): Promise<void> {
  const admin = chain().account('admin')
  await chain().send('relayer', ...signedCall(chain(), policyUpdate(ORG, admin, { version })))
}

const signed = async (role: Role, how: Partial<Parameters<typeof signedRulebook>[2]> = {}) =>
  signedRulebook(chain(), role, { orgId: ORG, envelope: await sealOrder('a rulebook'), ...how })

test('POST /policy answers after the run, with the version on the chain, which GET /policy shows too', async () => {
  const { post, api, enclave, runsNoted } = await setUp([{ ...ACCEPTED, waitMs: 300 }])
  expect((await api.get(`/policy/${ORG}`)).body).toEqual({ orgId: ORG, version: 0 })
  await publish(1n)
  const envelope = await sealOrder('a rulebook')
  const response = await post(envelope)
  expect([response.status, response.body]).toEqual([200, { orgId: ORG, version: 1 }])
  expect((await api.get(`/policy/${ORG}`)).body).toEqual({ orgId: ORG, version: 1 })
  expect(await enclave.jobs()).toMatchObject([{ job: 'policy', envelope }])
  expect((await enclave.notes()).map(({ event }) => event)).toEqual(['started', 'ended'])
  expect(await runsNoted()).toEqual([])
})

test('POST /policy answers a result that no rulebook can have with 502 enclave-failed, and no run is left', async () => {
  const results: Record<string, Step> = {
    'an outcome of another job': { outcome: 'settled' },
    'an acceptance without a version': { outcome: 'accepted' },
    'an acceptance that the chain lacks': { ...ACCEPTED, version: 7 },
  }
  const { post, runsNoted } = await setUp(Object.values(results))
  for (const what of Object.keys(results)) {
    const { status, body } = await post(await sealOrder(what))
    expect([what, status, body.code]).toEqual([what, 502, 'enclave-failed'])
  }
  expect(await runsNoted()).toEqual([])
})

test('the same rulebook posted five times at once runs once', async () => {
  const { post, api, enclave, hold, running } = await setUp()
  const go = await hold()
  await publish(1n)
  const envelope = await sealOrder('a rulebook')
  const answers = Array.from({ length: 5 }, () => handled(post(envelope).then(({ status }) => status)))
  await running(1)
  // A later request that is answered: the earlier ones have arrived.
  await api.get(`/policy/${ORG}`)
  await go()
  expect(await Promise.all(answers)).toEqual([200, 200, 200, 200, 200])
  expect(await enclave.jobs()).toHaveLength(1)
  expect((await post(envelope)).status).toBe(200)
  expect(await enclave.jobs()).toHaveLength(2)
})

test('a rulebook’s run left by an earlier server is removed half a minute after its time, a younger one is not', async () => {
  const { stop, dataDir, restart } = await setUp()
  await stop()
  const runRecords = createRunRecords({ ...(await openStores(dataDir)), logger: createLogLines().logger })
  const now = Math.floor(Date.now() / 1_000)
  const [startedAt, young] = [new Date(0).toISOString(), randomUUID()]
  for (const [runId, stopAt] of [
    [randomUUID(), now - 120],
    [young, now + 60],
  ] as const)
    await runRecords.create({ job: 'policy', runId, startedAt, stopAt })
  await restart()
  await eventually('one run', async () => (await runRecords.all()).length === 1)
  expect((await runRecords.all()).map(({ runId }) => runId)).toEqual([young])
})

describe('a rulebook whose envelope the admin has signed', () => {
  test('runs, and the enclave gets nothing but the envelope', async () => {
    const { post, enclave } = await setUp()
    await publish(1n)
    const body = await signed('admin')
    const { author: _, ...envelope } = body
    expect((await post(body)).body).toEqual({ orgId: ORG, version: 1 })
    expect(await enclave.jobs()).toMatchObject([{ job: 'policy', envelope }])
    expect(JSON.stringify(await enclave.jobs())).not.toContain('author')
  })

  test('never runs unless its institution’s admin has signed this very envelope for this chain', async () => {
    const { post, enclave } = await setUp()
    const elsewhere = { chainId: 1, escrow: `0x${'01'.repeat(20)}` } as const
    const unsigned = { orgId: ORG, sig: `0x${'00'.repeat(65)}` } as const
    for (const [reason, body] of [
      ['not-admin', await signed('alice')],
      ['not-admin', await signed('admin', { domain: elsewhere })],
      ['not-admin', { ...(await signed('admin')), ...(await sealOrder('another')) }],
      ['unknown-institution', await signed('admin', { orgId: bytes32('unknown') })],
      ['invalid-signature', { ...(await sealOrder('a rulebook')), author: unsigned }],
    ] as const) {
      const response = await post(body)
      expect(response.status).toBe(422)
      expect(response.body).toMatchObject({ code: 'policy-rejected', reason })
    }
    expect(await enclave.jobs()).toEqual([])
  })

  test('runs where the admin is a contract wallet that takes the signature, and not where it refuses it', async () => {
    const { post, enclave } = await setUp()
    await publish(1n)
    await makeContractWallet(chain(), 'admin', 'bob')
    const refused = await post(await signed('alice', { twice: true }))
    expect([refused.status, refused.body.reason]).toEqual([422, 'invalid-signature'])
    expect((await post(await signed('bob', { twice: true }))).body).toEqual({ orgId: ORG, version: 1 })
    expect(await enclave.jobs()).toHaveLength(1)
  })

  test('costs the node one question a block, however many strangers sign junk for its institution', async () => {
    const proxy = await startFaultProxy(chain().anvil.rpcUrl)
    const { post } = await setUp([ACCEPTED], { RPC_URL: proxy.url })
    const junk = await Promise.all(Array.from({ length: 30 }, () => signed('bob')))
    const calls = () => proxy.requests.filter((methods) => methods.includes('eth_call')).length
    const before = calls()
    for (const body of junk) expect((await post(body)).status).toBe(422)
    // The server reads other things at times, but not once per post.
    expect(calls() - before).toBeLessThan(10)
  })
})

describe('a rulebook whose body is longer than 64 KiB', () => {
  const ct = `0x${'5a'.repeat(200_000)}` as const
  const long = async (role: Role) => {
    const envelope = { ...(await sealOrder('long')), ct }
    const body = await signedRulebook(chain(), role, { orgId: ORG, envelope })
    const { orgId = ORG, sig = '0x' } = body.author ?? {}
    return { body, claim: encodeClaim({ orgId, sig, envelopeHash: envelopeHash(envelope) }) }
  }

  test('is read for its institution’s admin alone, by the signature in a header', async () => {
    const { api, post, enclave } = await setUp()
    await publish(1n)
    const { body, claim } = await long('admin')
    const claimed = (header: string, posted: object) =>
      api.post('/policy').set(RULEBOOK_AUTHOR, header).send(posted)
    expect((await post(body)).body).toMatchObject({ code: 'body-too-large' })
    expect((await claimed('0x12', body)).body).toMatchObject({ code: 'body-too-large' })
    const stranger = await long('alice')
    // The server that read it would find another fault.
    expect((await claimed(stranger.claim, { ...stranger.body, unread: true })).body).toMatchObject({
      code: 'policy-rejected',
      reason: 'not-admin',
    })
    // The header opens no other envelope's way.
    const other = { ...body, ct: `0x${'5b'.repeat(200_000)}` }
    expect((await claimed(claim, other)).body).toMatchObject({ code: 'policy-rejected', reason: 'not-admin' })
    expect(await enclave.jobs()).toEqual([])
    expect((await claimed(claim, body)).body).toEqual({ orgId: ORG, version: 1 })
    expect(await enclave.jobs()).toMatchObject([{ job: 'policy', envelope: { ct } }])
  })

  test('waits for no second one of its institution, and leaves the way free once it is answered', async () => {
    const { api, hold, running } = await setUp()
    const go = await hold()
    await publish(1n)
    const { body, claim } = await long('admin')
    const posted = () => api.post('/policy').set(RULEBOOK_AUTHOR, claim).send(body)
    const first = handled(posted().then(({ status }) => status))
    await running(1)
    expect((await posted()).body).toMatchObject({ code: 'enclave-busy' })
    await go()
    expect(await first).toBe(200)
    await eventually('the way is free', async () => (await posted()).status === 200)
  })
})

test('a caller that hangs up does not stop its rulebook’s run, which it can join again', async () => {
  const { url, log, post, hold, running, enclave, runsNoted } = await setUp()
  const go = await hold()
  await publish(1n)
  const envelope = await sealOrder('a rulebook')
  const phone = new AbortController()
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(envelope), signal: phone.signal }
  const hungUp = handled(expect(fetch(`${url}/policy`, init)).rejects.toThrow())
  await running(1)
  phone.abort()
  await hungUp
  await eventually('the server to notice', () =>
    log.lines().some(({ msg, aborted }) => msg === 'request' && aborted === true),
  )
  const joined = handled(post(envelope).then(({ body }) => body))
  await go()
  expect(await joined).toEqual({ orgId: ORG, version: 1 })
  await eventually('the end of the run', async () => (await runsNoted()).length === 0)
  expect((await enclave.notes()).map(({ event }) => event)).toEqual(['started', 'ended'])
  expect(log.lines().filter(({ level }) => Number(level) >= 50)).toEqual([])
})
