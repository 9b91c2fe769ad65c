import { describe, expect, onTestFinished, test } from 'vitest'
import { toQuantity } from '../../../src/chain/jsonRpc.js'
import { startTestChain, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { AAPL, setUpInstitution } from '../../support/institution.js'
import { storedText } from '../../support/storedRows.js'
import { actsOn, severalTicks, startNarrator, told, untimed } from './narratorUnderTest.js'

const chain = useChain(setUpInstitution)
const { atHead, block, buys, caughtUp, head, mine, revert, snapshot } = actsOn(chain)

const atProxy = async () => {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  return { proxy, narrator: await atHead({ rpcUrl: proxy.url }) }
}
const anotherBlock = (number: unknown) => ({
  result: { number, hash: `0x${'ab'.repeat(32)}`, timestamp: '0x1' },
})

describe('an event that a reorganization removed', () => {
  test('is retracted, newest first, and narrated again where the new history, though shorter, has it', async () => {
    const narrator = await atHead()
    await buys(1)
    const fork = await snapshot()
    await buys(2, 3, 4)
    await caughtUp(narrator)
    await revert(fork)
    await buys(5, 3)
    await caughtUp(narrator)
    await severalTicks(narrator)
    expect(told(narrator.lines)).toEqual([1, 2, 3, 4, -4, -3, -2, 5, 3])
  })

  test('while the server was down is retracted by the next start, and not by the one after it', async () => {
    const narrator = await atHead()
    await buys(1)
    const fork = await snapshot()
    await buys(2)
    await caughtUp(narrator)
    await narrator.stop()
    await revert(fork)
    await buys(3, 4)
    const again = await startNarrator({ chain: chain(), dataDir: narrator.dataDir })
    await caughtUp(again)
    await again.stop()
    const third = await startNarrator({ chain: chain(), dataDir: narrator.dataDir })
    await severalTicks(third)
    expect(told([...narrator.lines, ...again.lines, ...third.lines])).toEqual([1, 2, -2, 3, 4])
  })

  test('between the two requests of a tick is retracted, too', async () => {
    const { proxy, narrator } = await atProxy()
    await buys(1)
    const fork = await snapshot()
    await buys(2, 3)
    await caughtUp(narrator)
    const last = toQuantity(await head())
    const old = await block(last)
    // The old block is there until the events are asked for.
    let isOld = true
    proxy.answer = ({ method, params }) => {
      if (method === 'eth_getLogs') isOld = false
      return isOld && params[0] === last ? { result: old } : undefined
    }
    await revert(fork)
    await buys(4, 5, 6)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, 2, 3, -3, -2, 4, 5, 6])
  })

  test('between two of the five queries has no event skipped', async () => {
    const { proxy, narrator } = await atProxy()
    const before = await block('latest')
    const end = toQuantity((await head()) + 3)
    // Nothing is seen of either history before both are there.
    proxy.answer = ({ params }) => (params[0] === 'latest' ? { result: before } : undefined)
    const fork = await snapshot()
    await mine(3)
    const old = await block(end)
    await revert(fork)
    await chain().send('admin', 'registry', 'setMember', chain().account('carol'), true)
    await buys(1)
    await mine(1)
    // The range's end and the first query are answered by the old history, whatever is asked after it by the new one.
    let isTorn = true
    proxy.answer = ({ method, params, index }) => {
      if (!isTorn) return undefined
      if (method === 'eth_getLogs') isTorn = index < 5
      if (index === 0 && params[0] === end) return { result: old }
      return method === 'eth_getLogs' && index === 1 ? { result: [] } : undefined
    }
    await eventually('the torn poll', () => !isTorn)
    await mine(1)
    await caughtUp(narrator)
    await severalTicks(narrator)
    expect(narrator.lines.map((line) => /\[\w+\]/.exec(line)?.[0])).toEqual(['[registry]', '[escrow]'])
  })

  test('with the block that narration began after is no reset, and no older event is ever narrated', async () => {
    await buys(9)
    const beginning = await snapshot()
    await mine(1)
    const narrator = await atHead()
    await buys(1)
    await caughtUp(narrator)
    await revert(beginning)
    const before = await snapshot()
    await buys(2, 3)
    await caughtUp(narrator)
    await severalTicks(narrator)
    expect(told(narrator.lines)).toEqual([1, -1, 2, 3])
    await mine(70)
    await caughtUp(narrator)
    await revert(before)
    await buys(4)
    await mine(80)
    await caughtUp(narrator)
    expect(told(narrator.lines).slice(4)).toEqual(['reset', 4])
  })

  test('is retracted up to 64 blocks deep; deeper, a reset is one line, and narration begins anew', async () => {
    await buys(9)
    const narrator = await atHead()
    const beginning = await snapshot()
    await buys(1)
    const fork = await snapshot()
    await buys(2)
    await mine(63)
    await caughtUp(narrator)
    await revert(fork)
    await mine(65)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, 2, -2])
    // A final event needs no place in the record.
    expect(storedText(narrator.dataDir, 'state', 'narrator')).not.toContain('OrderOpened')
    await revert(beginning)
    await buys(3)
    await mine(128)
    await buys(4)
    await caughtUp(narrator)
    await severalTicks(narrator)
    // Events from before the narration's start are on the chain still, and not narrated now either.
    expect(told(narrator.lines)).toEqual([1, 2, -2, 'reset', 3, 4])
  })
})

describe('a chain that was reset', () => {
  test('a shorter chain in place of the one before is narrated from its beginning', async () => {
    await mine(100)
    const { proxy, narrator } = await atProxy()
    await buys(1)
    await caughtUp(narrator)
    const another = await startTestChain()
    onTestFinished(another.stop)
    expect(another.addresses).toEqual(chain().addresses)
    await another.send('owner', 'token', 'setKyc', another.account('dave'), true)
    proxy.target = another.anvil.rpcUrl
    await another.send('owner', 'token', 'setListed', AAPL, true)
    await eventually('four lines', () => narrator.lines.length >= 4)
    await severalTicks(narrator)
    expect(narrator.lines.slice(1).map(untimed)).toEqual([
      '[chain] reset: all earlier lines are void, the chain is narrated anew',
      '[token] kyc updated',
      '[token] listing updated',
    ])
  })

  test('is not told of where a node says so for a moment', async () => {
    const { proxy, narrator } = await atProxy()
    await buys(1)
    await caughtUp(narrator)
    let polls = 0
    proxy.answer = ({ method, params: [number] }) => {
      if (number === 'latest') polls++
      return method === 'eth_getBlockByNumber' && number !== 'latest' && polls < 5
        ? anotherBlock(number)
        : undefined
    }
    await eventually('the polls', () => polls >= 6)
    await buys(2)
    await caughtUp(narrator)
    expect(told(narrator.lines)).toEqual([1, 2])
  })
})
