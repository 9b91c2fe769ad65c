// The contracts' past, read from a real chain through a node that holds no account.
import { expect, it } from 'vitest'
import { createPast } from '../../src/client/index.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'

const chain = useChain()
const ORG = nameToBytes32('Example Capital')
const AAPL = nameToBytes32('AAPL')

const past = () => {
  const node = {
    request: ({ method, params = [] }: { method: string; params?: readonly unknown[] | object }) =>
      chain().provider.send(method, Array.isArray(params) ? params : [params]),
  }
  return createPast(node, { escrow: chain().addresses.orderEscrow, fromBlock: 0 })
}

it('lists equities and frozen holdings, and goes on from there', async () => {
  const alice = chain().account('alice')
  await chain().send('owner', 'token', 'setListed', AAPL, true)
  const listings = past().listings()
  expect(await listings()).toMatchObject({ equities: [{ symbol: 'AAPL', isListed: true }], isComplete: true })
  await chain().send('owner', 'token', 'setFrozen', AAPL, alice, true)
  await chain().send('owner', 'token', 'setListed', AAPL, false)
  expect(await listings()).toMatchObject({
    equities: [{ symbol: 'AAPL', isListed: false }],
    frozen: [{ symbol: 'AAPL', wallet: alice }],
  })
})

it('names what waits for the owner, until it is done', async () => {
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

it('knows the owner, the time of an event, and that there is no rulebook', async () => {
  await chain().send('owner', 'token', 'setListed', AAPL, true)
  const { isOwner, events, timeOf, rulebooks, standing } = past()
  expect(await isOwner(chain().account('owner'))).toBe(true)
  expect(await isOwner(chain().account('alice'))).toBe(false)
  const { logs } = await events()()
  const last = logs.at(-1)
  expect(last && (await timeOf({ ...last, blockTimestamp: undefined }))).toBe(await chain().now())
  expect(await rulebooks({ orgId: ORG, admin: chain().account('admin') })()).toEqual({
    versions: [],
    isComplete: true,
  })
  expect(await standing({ orgId: ORG, wallet: chain().account('alice') })()).toBeNull()
})
