// The server enacts what the owner has proposed, on a real chain.
import { expect, it } from 'vitest'
import { ZERO_BYTES32 } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { useChain } from '../../support/chain.js'
import { AAPL, MSFT } from '../../support/institution.js'
import {
  asKilledNow,
  mine,
  minedOfRelayer,
  pooled,
  type RelayTestOptions,
  soon,
  startRelay,
  stopMining,
} from './relayUnderTest.js'

const chain = useChain()
const [SPLIT, SYMBOL_CHANGE] = [0, 4]
type Action = readonly [number, number, bigint, bigint, number, string, string]

const start = (options: Partial<RelayTestOptions> = {}) =>
  startRelay({ chain: chain(), enactEveryMs: 20, ...options })
const split = (recordAt: number, symbol = AAPL): Action => [SPLIT, recordAt, 2n, 1n, 0, symbol, ZERO_BYTES32]
const propose = (action: Action) => chain().send('owner', 'actions', 'propose', action)
const count = () => chain().read('actions', 'count')
const entries = async () =>
  Array.from(Object(await chain().read('actions', 'list', 0, await count())), (entry) => [
    Number(Object(entry).kind),
    Object(entry).symbol,
  ])

it('a proposed corporate action is enacted once it is due, once those of its symbol that come first are in the list, and a withdrawn one never', async () => {
  const tomorrow = (await chain().now()) + 86_400
  const late = split(tomorrow - 60, nameToBytes32('APPL'))
  const change: Action = [SYMBOL_CHANGE, tomorrow, 0n, 0n, 0, AAPL, nameToBytes32('APPL')]
  const withdrawn = split(tomorrow, MSFT)
  for (const action of [split(tomorrow), change, late, withdrawn]) await propose(action)
  await chain().send('owner', 'actions', 'withdraw', await chain().read('actions', 'digestOf', withdrawn))
  const before = await minedOfRelayer(chain())
  const relay = await start()
  await propose(split(tomorrow + 3_600, MSFT))
  await chain().mineAt(tomorrow)
  await soon(entries).toHaveLength(3)
  const entered = await entries()
  expect(entered.at(-1)).toEqual([SYMBOL_CHANGE, AAPL])
  expect(relay.log.text()).not.toContain('corporate action not enacted')
  await chain().mineAt(tomorrow + 3_600)
  await soon(entries).toHaveLength(4)
  await soon(relay.log.text).toContain('"primaryType":"ActionEnactment"')
  await relay.stop()
  expect(await minedOfRelayer(chain())).toBe(before + 4)
})

it('a server that is killed after it has signed an enactment leaves that one to its next start, and enacts nothing twice', async () => {
  await propose(split(await chain().now()))
  const before = await minedOfRelayer(chain())
  await stopMining(chain())
  const first = await start()
  await soon(() => pooled(chain())).toBe(1)
  const dataDir = await asKilledNow(first.dataDir)
  await first.stop()
  const second = await start({ dataDir })
  await soon(second.log.text).toContain('unfinished authorizations resumed')
  await mine(chain())
  await soon(second.log.text).toContain('authorization relayed')
  await second.stop()
  await start({ dataDir })
  await mine(chain())
  expect([await count(), await minedOfRelayer(chain())]).toEqual([1n, before + 1])
})

it('an enactment that a reorganization takes back is enacted again, and one whose proposal it takes back is not', async () => {
  const relay = await start()
  const snapshot = await chain().provider.send('evm_snapshot', [])
  await propose(split(await chain().now()))
  await soon(relay.log.text).toContain('authorization relayed')
  await chain().provider.send('anvil_reorg', [1, []])
  await soon(relay.log.text).toContain('transaction put back')
  await soon(count).toBe(1n)
  await chain().provider.send('evm_revert', [snapshot])
  await propose(split(await chain().now(), MSFT))
  await soon(entries).toEqual([[SPLIT, MSFT]])
})

it('an action that reverts is logged once for its reason, and enacted once it can be', async () => {
  await chain().send('guardian', 'authority', 'pause')
  await propose(split(await chain().now()))
  const relay = await start()
  await soon(relay.log.text).toContain('corporate action not enacted')
  await chain().send('owner', 'authority', 'liftPause')
  await soon(count).toBe(1n)
  expect(relay.log.lines().filter(({ msg }) => msg === 'corporate action not enacted')).toEqual([
    expect.objectContaining({ reason: 'PlatformPaused' }),
  ])
})
