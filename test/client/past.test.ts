// The contracts' past, read from a real chain through a node that holds no account.
import type { Interface } from 'ethers'
import { expect, it } from 'vitest'
import { interfaces } from '../../src/chain/interfaces.js'
import { createPast, type Eip1193Provider, type PastOptions } from '../../src/client/index.js'
import {
  createEventReader,
  movesIn,
  publishedIn,
  type Standing,
  standingAt,
} from '../../src/client/past/facts.js'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'

const chain = useChain()
const ORG = nameToBytes32('Example Capital')
const AAPL = nameToBytes32('AAPL')

const past = (options: Partial<PastOptions> = {}) => {
  const request: Eip1193Provider['request'] = ({ method, params }) =>
    chain().provider.send(method, [params ?? []].flat())
  return createPast({ request }, { escrow: chain().addresses.orderEscrow, fromBlock: 0, ...options })
}

it('the past lists equities and frozen holdings, and goes on from there', async () => {
  const alice = chain().account('alice')
  await chain().send('owner', 'token', 'setListed', AAPL, true)
  const listings = past().listings()
  expect(await listings()).toMatchObject({ equities: [{ symbol: 'AAPL', isListed: true }], isComplete: true })
  await chain().send('owner', 'token', 'setFrozen', AAPL, alice, true)
  await chain().send('owner', 'token', 'setListed', AAPL, false)
  const equities = [{ symbol: 'AAPL', isListed: false }]
  expect(await listings()).toMatchObject({ equities, frozen: [{ symbol: 'AAPL', wallet: alice }] })
  await chain().send('owner', 'token', 'setFrozen', AAPL, alice, false)
  expect(await listings()).toMatchObject({ equities, frozen: [] })
})

it('the past refuses a node of another chain', async () => {
  const events = past({ chainId: 1 }).events()
  await expect(events()).rejects.toMatchObject({ code: 'node-wrong-chain', retryable: false })
  expect((await past({ chainId: 31_337 }).events()()).isComplete).toBe(true)
})

it('the past names what waits for the owner, until it is done', async () => {
  const [admin, alice] = [chain().account('admin'), chain().account('alice')]
  const waiting = past().waiting()
  await chain().send('admin', 'registry', 'registerInstitution', ORG)
  expect((await waiting()).founded).toEqual([{ orgId: ORG, founder: admin }])
  await chain().send('owner', 'registry', 'setAdmitted', ORG, admin, true)
  await chain().send('admin', 'registry', 'setMember', alice, true)
  await chain().send('alice', 'registry', 'join', ORG)
  expect(await waiting()).toMatchObject({ founded: [], unverified: expect.arrayContaining([alice]) })
  await chain().send('owner', 'token', 'setKyc', alice, true)
  expect((await waiting()).unverified).not.toContain(alice)
})

it('the past lists the moves of portfolios by institution, by new wallet, and all, and who ended one', async () => {
  const [admin, alice] = [chain().account('admin'), chain().account('alice')]
  const [bob, carol] = [chain().account('bob'), chain().account('carol')]
  await chain().send('admin', 'registry', 'registerInstitution', ORG)
  await chain().send('owner', 'registry', 'setAdmitted', ORG, admin, true)
  for (const [role, wallet] of [
    ['alice', alice],
    ['bob', bob],
  ] as const) {
    await chain().send('admin', 'registry', 'setMember', wallet, true)
    await chain().send(role, 'registry', 'join', ORG)
    await chain().send('admin', 'registry', 'proposeMove', wallet, carol)
  }
  const [ours, hers, all] = [{ orgId: ORG }, { to: carol }, {}].map((of) => past().moves(of))
  const proposed = [alice, bob].map((from) => ({
    ...{ from, to: carol, orgId: ORG, isAccepted: false, effectiveAt: null },
  }))
  for (const moves of [ours, hers, all]) expect(await moves?.()).toMatchObject({ moves: proposed, ended: [] })
  expect(await past().moves({ to: alice })()).toMatchObject({ moves: [], ended: [], isComplete: true })
  const ends = (from: Hex, by: Hex) => ({ ...{ from, to: carol, orgId: ORG, by }, at: expect.any(Number) })
  await chain().send('alice', 'registry', 'withdrawMove', alice)
  expect(await all?.()).toMatchObject({ moves: proposed.slice(1), ended: [ends(alice, alice)] })
  await chain().send('admin', 'registry', 'withdrawMove', bob)
  for (const moves of [ours, hers])
    expect(await moves?.()).toMatchObject({ moves: [], ended: [ends(bob, admin), ends(alice, alice)] })
  await chain().send('admin', 'registry', 'proposeMove', alice, carol)
  expect(await ours?.()).toMatchObject({ moves: proposed.slice(0, 1), ended: [ends(bob, admin)] })
})

it('a portfolio that is moved in parts has been carried out with the last one', () => {
  const proposed = logOf(interfaces.institutionRegistry, 'MoveProposed', [ORG, ada, ben], 1)
  const parts = [1, 0].map((left) =>
    logOf(interfaces.confidentialLedger, 'PortfolioMoved', [ada, ben, left], 3 - left),
  )
  const ends = [0, 1, 2].map(
    (read) => movesIn([proposed, ...parts.slice(0, read)], createEventReader())[0]?.end,
  )
  expect(ends).toEqual([undefined, undefined, { by: null, log: parts[1] }])
})

const [ada, ben, cleo] = [
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
] as const

const hex = (text: string): Hex => `0x${text.slice(2)}`

function logOf(contract: Interface, event: string, args: readonly unknown[], blockNumber: number) {
  const { topics, data } = contract.encodeEventLog(event, args)
  const hash: Hex = `0x${blockNumber.toString().padStart(64, '0')}`
  const place = { blockNumber, blockHash: hash, txHash: hash, logIndex: 0, blockTimestamp: undefined }
  return { ...place, address: ada, topics: topics.map(hex), data: hex(data) }
}

it('a rulebook is of the admin of its block, found back from the present one', () => {
  const published = (version: number, block: number) =>
    logOf(interfaces.confidentialLedger, 'PolicyUpdated', [ORG, version], block)
  const transferred = (from: string, to: string, block: number) =>
    logOf(interfaces.institutionRegistry, 'AdminTransferred', [ORG, from, to], block)
  const before = [published(1, 1), published(2, 2), transferred(ada, ben, 3), published(3, 4)]
  const logs = [...before, transferred(ben, cleo, 5), published(4, 6)]
  const found = publishedIn(logs, cleo, createEventReader())
  const told = found.map(({ version, admin, log }) => [version, admin, log.blockNumber])
  expect(told.join(' ')).toBe(`4,${cleo},6 3,${ben},4 2,${ada},2 1,${ada},1`)
})

const [JOINED, NOT] = [`0x${'0'.repeat(63)}1`, `0x${'0'.repeat(64)}`]
const joined = (blockNumber: number, logIndex = 0) => ({ blockNumber, logIndex, data: JOINED })
const other = (blockNumber: number, logIndex = 0) => ({ blockNumber, logIndex, data: NOT })

it.each<[string, Standing, ReturnType<typeof joined>[]]>([
  ['was invited and joined before the rulebook', 'member', [other(3), joined(9, 1)]],
  ['was invited before it and joined after', 'invited', [other(3), joined(10, 3)]],
  ['was removed before it and joined again after', 'invited', [joined(3), other(4), joined(12)]],
  ['was invited after it, in the same block', 'outsider', [other(10, 3), joined(11)]],
  ['joined in its block, just before it', 'member', [other(10), joined(10, 1)]],
  ['is leaving since', 'member', [other(2), joined(3), other(12)]],
  ['is in no event at all', 'outsider', []],
])('a wallet that %s had the standing %s', (_, standing, changes) => {
  expect(standingAt({ blockNumber: 10, logIndex: 2 }, changes)).toBe(standing)
})
