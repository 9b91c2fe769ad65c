// Memberships in random order: no wallet buys outside of an admitted institution, and none gets around a leaving.

import { AbiCoder } from 'ethers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { type ContractKey, TEST_DELAYS, useChain } from '../support/chain.js'
import { bytes32, DAY, usd, ZERO_BYTES32 } from '../support/institution.js'
import { LENGTH } from '../support/length.js'
import { createModel, INSTITUTIONS, type Step, steps, WALLETS, type Wallet } from '../support/membership.js'
import { type Call, encodeCall, simulate } from '../support/money/simulation.js'
import { REPEAT } from '../support/seed.js'

const SEQUENCES = 20 * LENGTH
const LEAVE = TEST_DELAYS.leave
const ZERO_ADDRESS: Hex = `0x${'00'.repeat(20)}`
const ORG_IDS = INSTITUTIONS.map(nameToBytes32)

const chain = useChain(async (set) => {
  for (const wallet of WALLETS) {
    await set.send('owner', 'token', 'setKyc', set.account(wallet), true)
    await set.send(wallet, 'usdc', 'mint', set.account(wallet), usd(1_000))
    await set.send(wallet, 'usdc', 'approve', set.addressOf('escrow'), usd(1_000))
  }
})

/** The registry's state after a step, by wallet and institution. */
interface Census {
  time: number
  /** `leavingAt` counts while `orgOf` is not zero. */
  wallets: Map<Wallet, { orgOf: string; leavingAt: number; mayBuy: boolean }>
  institutions: { admin: string; admitted: boolean; count: number }[]
}

/** A step, the revert that it ended in (null for success), and the state after it. */
interface Played {
  step: Step
  outcome: string | null
  census: Census
}

const READS: readonly (readonly [method: string, answer: 'address' | 'bool' | 'bytes32' | 'uint256'])[] = [
  ['adminOf', 'address'],
  ['isAdmitted', 'bool'],
  ['walletCount', 'uint256'],
]
const coder = AbiCoder.defaultAbiCoder()
const decoded = (type: string, answer: string | null | undefined): string =>
  String(coder.decode([type], answer ?? '0x')[0])

function call(from: Hex, contract: ContractKey, method: string, ...args: unknown[]): Call {
  return { from, to: chain().addressOf(contract), data: encodeCall(contract, method, args) }
}

/** The transaction of a step. */
function transactionOf({ action }: Step, index: number, time: number) {
  const account = (wallet: Wallet | null) => (wallet === null ? ZERO_ADDRESS : chain().account(wallet))
  const org = (institution: number) => ORG_IDS[institution]
  const [id, commit, deadline] = [bytes32(`order ${index}`), bytes32(`commit ${index}`), time + DAY]
  const registry = (by: Hex, method: string, ...args: unknown[]) => call(by, 'registry', method, ...args)
  switch (action.kind) {
    case 'found':
      return registry(account(action.wallet), 'registerInstitution', org(action.institution))
    case 'admit': {
      const by = action.by === 'owner' ? chain().account('owner') : account(action.by)
      return registry(by, 'setAdmitted', org(action.institution), account(action.wallet), action.on)
    }
    case 'invite':
    case 'remove':
      return registry(account(action.by), 'setMember', account(action.wallet), action.kind === 'invite')
    case 'join':
      return registry(account(action.wallet), 'join', org(action.institution))
    case 'leave':
      return registry(account(action.wallet), 'leaveInstitution')
    case 'propose':
      return registry(account(action.by), 'transferAdmin', account(action.to))
    case 'accept':
      return registry(account(action.wallet), 'acceptAdmin', org(action.institution))
    case 'buy':
      return call(account(action.wallet), 'escrow', 'openBuy', id, commit, 1n, deadline)
    case 'request':
      return call(account(action.wallet), 'escrow', 'openRequest', id, commit, deadline)
  }
}

/** The reads of a census, which {@link censusOf} takes apart in the same order. */
function readsOf() {
  const from = chain().account('relayer')
  const wallets = WALLETS.flatMap((wallet) =>
    ['orgOf', 'leavingAt', 'buyerOrgOf'].map((method) =>
      call(from, 'registry', method, chain().account(wallet)),
    ),
  )
  return [...wallets, ...ORG_IDS.flatMap((id) => READS.map(([method]) => call(from, 'registry', method, id)))]
}

function censusOf(time: number, answers: readonly (string | null)[]): Census {
  const wallets: Census['wallets'] = new Map()
  for (const [index, wallet] of WALLETS.entries()) {
    const [orgOf, leavingAt, buyerOrgOf] = answers.slice(3 * index, 3 * index + 3)
    wallets.set(wallet, {
      orgOf: decoded('bytes32', orgOf),
      leavingAt: Number(decoded('uint256', leavingAt)),
      mayBuy: typeof buyerOrgOf === 'string',
    })
  }
  const institutions = ORG_IDS.map((_, index) => {
    const at = 3 * (WALLETS.length + index)
    const [admin, admitted, count] = READS.map(([, type], read) => decoded(type, answers[at + read]))
    return { admin: admin ?? '', admitted: admitted === 'true', count: Number(count) }
  })
  return { time, wallets, institutions }
}

/** Each step in a block of its own. */
async function play(sequence: readonly Step[]): Promise<Played[]> {
  let time = await chain().now()
  const blocks = sequence.map((step, index) => {
    time += step.elapsed
    return { step, time, transactions: [transactionOf(step, index, time)] }
  })
  const results = await simulate(chain(), blocks, readsOf())
  return blocks.map(({ step, time: at }, index) => {
    const { outcomes, answers } = results[index] ?? { outcomes: [], answers: [] }
    return { step, outcome: outcomes[0] ?? null, census: censusOf(at, answers) }
  })
}

/** Only members of an admitted institution who are not leaving may buy; the counts are theirs. */
function expectMembership({ census: { wallets, institutions } }: Played): void {
  for (const { orgOf, leavingAt, mayBuy } of wallets.values()) {
    const admitted = institutions.some((one, index) => ORG_IDS[index] === orgOf && one.admitted)
    expect(mayBuy).toBe(orgOf !== ZERO_BYTES32 && admitted && leavingAt === 0)
  }
  for (const [index, { admin, admitted, count }] of institutions.entries()) {
    const inside = WALLETS.filter((wallet) => wallets.get(wallet)?.orgOf === ORG_IDS[index])
    const counted = inside.filter(
      (wallet) => chain().account(wallet) !== admin && wallets.get(wallet)?.leavingAt === 0,
    )
    expect(count).toBe(counted.length)
    // Without an admission there is neither an admin nor a member.
    if (admin === ZERO_ADDRESS) expect([admitted, inside]).toEqual([false, []])
    else expect(inside.map((wallet) => chain().account(wallet))).toContain(admin)
  }
}

/** Once begun, a leaving ends at its time, or by a removal; until then nothing moves it. */
function expectLeaving({ census: before }: Played, { step: { action }, outcome, census: now }: Played): void {
  for (const wallet of WALLETS) {
    const [was, is] = [before.wallets.get(wallet), now.wallets.get(wallet)]
    if (!was || !is || was.leavingAt === 0 || was.orgOf === ZERO_BYTES32) continue
    const removed = action.kind === 'remove' && action.wallet === wallet && outcome === null
    const entered = is.orgOf !== ZERO_BYTES32 && is.leavingAt === 0 && now.time >= was.leavingAt
    if (removed || entered) continue
    expect(is.leavingAt).toBe(was.leavingAt)
    expect(is.orgOf).toBe(now.time >= was.leavingAt ? ZERO_BYTES32 : was.orgOf)
  }
}

/** Between buys for two institutions lies a removal, or a leaving of full length in which nothing was bought. */
function expectNoWayAround(played: readonly Played[]): void {
  for (const wallet of WALLETS) {
    let last: { orgOf: string; freeFrom: number } | null = null
    for (const { step, outcome, census } of played) {
      const { action } = step
      if (outcome !== null || !('wallet' in action) || action.wallet !== wallet) continue
      if (last && action.kind === 'remove') last.freeFrom = Math.min(last.freeFrom, census.time)
      if (last && action.kind === 'leave') last.freeFrom = Math.min(last.freeFrom, census.time + LEAVE)
      if (action.kind !== 'buy') continue
      const orgOf = census.wallets.get(wallet)?.orgOf ?? ''
      if (last && last.orgOf !== orgOf) expect(census.time).toBeGreaterThanOrEqual(last.freeFrom)
      last = { orgOf, freeFrom: Number.POSITIVE_INFINITY }
    }
  }
}

/** Different ends of different steps that the sequences must reach: with fewer they prove little. */
const REACHED = 28

it(`memberships in random order end as modelled and keep the registry's promises, over ${SEQUENCES} sequences`, async () => {
  const seen = new Set<string>()
  const property = fc.asyncProperty(steps(LEAVE), async (sequence) => {
    const start = await chain().now()
    const modelled = createModel(start, LEAVE)
    const expected = sequence.map(modelled)
    const played = await play(sequence)
    expect(played.map(({ outcome }) => outcome)).toEqual(expected)
    for (const [index, one] of played.entries()) {
      expectMembership(one)
      const before = played[index - 1]
      if (before) expectLeaving(before, one)
    }
    expectNoWayAround(played)
    for (const { step, outcome } of played) seen.add(`${step.action.kind} ${outcome}`)
  })
  await fc.assert(property, { numRuns: SEQUENCES })
  expect(seen.size, REPEAT).toBeGreaterThanOrEqual(REACHED)
}, 300_000)
