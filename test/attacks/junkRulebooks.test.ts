// Actor: a stranger with a network connection and nothing else: no wallet, no KYC, no gas. Then ten of them at ten addresses.
// Cost: 8.7 posts a second each, below the rate limit. The envelopes hold random bytes.
// Effect: the junk held both slots for runs of rulebooks. An honest admin got 503 twelve times of twelve, and an employee whom the admin
// wanted to bar traded on.
// Now: junk shares one queue of unsigned rulebooks, one run at a time. The admin's wallet signs the envelope's hash outside the seal, and
// the server checks that signature against `adminOf`. Signed rulebooks have a queue and permits of their own, in which institutions take
// turns.
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Envelope } from '../../src/protocol/envelope.js'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { policyUpdate, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { eventually } from '../support/eventually.js'
import { ORG, setUpInstitution } from '../support/institution.js'
import { chainEnvironment, enclaveEnvironment, startIntakeServer } from '../support/intakeServer.js'
import { createScriptedEnclave, type ScriptedEnclave } from '../support/scriptedEnclave.js'
import { signedRulebook } from '../support/signedRulebooks.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { type JunkPosters, junk, loopbackAddresses, startJunkPosters } from './support/junkPosters.js'

const POSTS_PER_SECOND = 8.7
let hostile: JunkPosters | undefined
afterEach(() => hostile?.stop())

describe('ten hostile clients against an enclave with runs of two seconds', () => {
  const RUN_MS = 2_000
  const OTHER_ORG = nameToBytes32('Second Capital')
  const chain = useChain(setUpInstitution)

  beforeAll(async () => {
    // The scripted enclave's rulebooks are on the chain.
    await chain().send('carol', 'registry', 'registerInstitution', OTHER_ORG)
    await chain().send('owner', 'registry', 'setAdmitted', OTHER_ORG, chain().account('carol'), true)
    for (const [org, admin] of [[ORG, 'admin'] as const, [OTHER_ORG, 'carol'] as const]) {
      await chain().send('relayer', ...signedCall(chain(), policyUpdate(org, chain().account(admin))))
    }
  })

  async function startServer(waitMs = RUN_MS) {
    const directory = await temporaryDirectory()
    const enclave = await createScriptedEnclave(directory)
    await enclave.plan({ policy: [{ outcome: 'accepted', orgId: ORG, version: 1, waitMs }] })
    const environment = {
      ...chainEnvironment(chain()),
      ...enclaveEnvironment(enclave),
      DATA_DIR: `${directory}/data`,
    }
    const { url } = await startIntakeServer(environment, enclave)
    return { url, enclave }
  }

  const signed = (role: 'admin' | 'alice' | 'carol', orgId: Hex) =>
    signedRulebook(chain(), role, { orgId, envelope: junk() })

  /** Posts, and counts the runs that ended before its own has started: a measure of time that a slow machine leaves alone. */
  async function publish(url: string, enclave: ScriptedEnclave, body: Envelope) {
    const endedBefore = await ended(enclave)
    const { status } = await fetch(`${url}/policy`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const notes = await enclave.notes()
    const start = notes.findIndex(
      ({ event, job }) => event === 'started' && job.job === 'policy' && job.envelope.ct === body.ct,
    )
    const endsBefore = notes.slice(0, start).filter(({ event }) => event === 'ended').length
    return { status, runsWaitedFor: start === -1 ? Number.POSITIVE_INFINITY : endsBefore - endedBefore }
  }

  async function ended(enclave: ScriptedEnclave): Promise<number> {
    return (await enclave.notes()).filter(({ event }) => event === 'ended').length
  }

  function attack(url: string, body: () => object): JunkPosters {
    const addresses = loopbackAddresses(10)
    hostile = startJunkPosters({ url, addresses, postsPerSecond: POSTS_PER_SECOND, body })
    return hostile
  }

  it('delay a signed restriction by one run at most with junk', async () => {
    const { url, enclave } = await startServer()
    const { answers } = attack(url, junk)
    await eventually('a queue full of junk', () => (answers().get(503) ?? 0) > 0)
    for (let n = 0; n < 2; n++) {
      const { status, runsWaitedFor } = await publish(url, enclave, await signed('admin', ORG))
      expect(status).toBe(200)
      expect(runsWaitedFor).toBeLessThanOrEqual(1)
    }
  })

  it('delay it by one run at most with signatures of another institution’s admin', async () => {
    const { url, enclave } = await startServer()
    const bodies = await Promise.all(Array.from({ length: 200 }, () => signed('carol', OTHER_ORG)))
    let next = 0
    const { answers } = attack(url, () => bodies[next++ % bodies.length] ?? {})
    await eventually('their line to be full', () => (answers().get(503) ?? 0) > 0)
    const { status, runsWaitedFor } = await publish(url, enclave, await signed('admin', ORG))
    expect(status).toBe(200)
    expect(runsWaitedFor).toBeLessThanOrEqual(1)
  })

  it('leave an honest client without a signature a share of the unsigned queue', async () => {
    const { url, enclave } = await startServer(100)
    const { answers } = attack(url, junk)
    await eventually('a queue full of junk', () => (answers().get(503) ?? 0) > 0)
    expect((await publish(url, enclave, junk())).status).toBe(200)
  })
})
