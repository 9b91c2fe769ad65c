import { describe, expect, test } from 'vitest'
import { createRpc } from '../../../src/chain/rpc.js'
import { commitOf, type Envelope } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { signedCall } from '../../support/authorizations.js'
import { type ContractKey, INTERFACES, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { settlementNow } from '../../support/orderEnds.js'
import type { Role } from '../../support/roles.js'
import type { Step } from '../../support/scriptedEnclave.js'
import { dropStored, setStoredText } from '../../support/storedRows.js'
import { outcomes, PLACED, triggerUnderTest } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const [A, B] = [bytes32('A'), bytes32('B')]

async function setUp(steps: Step[] = [PLACED]) {
  const proxy = await startFaultProxy(chain().anvil.rpcUrl)
  const { chainId } = chain().anvil
  const rpc = createRpc({ urls: [proxy.url], timeoutMs: 5_000, chainId })
  return {
    ...(await triggerUnderTest(chain(), { any: steps }, { rpc })),
    /** Resolves once the server has looked at the chain as it is now, and dealt with it. */
    async looked() {
      const before = proxy.requests.length
      await eventually('two more looks', () => {
        const later = proxy.requests.slice(before)
        return later.filter((methods) => methods.join() === 'eth_getBlockByNumber').length > 1
      })
    },
  }
}

/** An opening as a transaction of a replaced block. */
async function opening(from: Role, orderId: Hex, envelope: Envelope): Promise<object> {
  const deadline = (await chain().now()) + 3_600
  return call(from, 'escrow', 'openRequest', [orderId, commitOf(envelope), deadline])
}

function call(from: Role, contract: ContractKey, method: string, args: unknown[]): object {
  const data = INTERFACES[contract].encodeFunctionData(method, args)
  return { from: chain().account(from), to: chain().addressOf(contract), data, gas: '0xf42400' }
}

/** Replaces the latest blocks; the transactions come with the number of their block among the new ones. */
async function reorganise(depth: number, transactions: [object, number][]): Promise<void> {
  await chain().provider.send('anvil_reorg', [depth, transactions])
}

describe('an order in a block that took the place of others', () => {
  test('runs, though the blocks of that height were looked at before', async () => {
    const { store, until, looked } = await setUp()
    const envelope = await sealOrder(A)
    await store(A, envelope)
    await chain().provider.send('anvil_mine', ['0x6'])
    await looked()
    await reorganise(6, [[await opening('alice', A, envelope), 0]])
    await until(A, 'its run', (record) => outcomes(record)[0] === 'placed')
  })

  test('runs again when its first run found no escrow any more', async () => {
    const { place, until, looked } = await setUp([{ outcome: 'rejected' }, PLACED])
    await chain().provider.send('anvil_mine', ['0x6'])
    const envelope = await place('alice', A)
    await until(A, 'its run', (record) => outcomes(record)[0] === 'rejected')
    await looked()
    await reorganise(3, [[await opening('alice', A, envelope), 1]])
    await until(A, 'another run', (record) => outcomes(record)[1] === 'placed')
  })

  test('runs without its envelope, which the enclave may hold, when its record failed before and is lost', async () => {
    const { place, until, stop, start, root, looked } = await setUp()
    const envelope = await place('alice', A)
    await until(A, 'its run', (record) => outcomes(record)[0] === 'placed')
    await stop()
    setStoredText(root, 'orders', A, 'no record')
    const second = await start()
    await eventually('its deferral', () => second.logText().includes('order deferred: its record fails'))
    await reorganise(1, [[await opening('alice', A, envelope), 0]])
    await looked()
    dropStored(root, 'orders', A)
    const { triggers } = await second.until(A, 'another run', (found) => outcomes(found)[0] === 'placed')
    expect(triggers[0]?.reason).toBe('recovered')
  })

  test('starts nothing again when it has ended', async () => {
    const { place, until, looked, keys } = await setUp([{ outcome: 'settled' }])
    const envelope = await place('alice', A)
    await until(A, 'its run', (record) => outcomes(record)[0] === 'settled')
    const [contract, method, ...args] = signedCall(chain(), await settlementNow(chain(), A))
    await chain().send('relayer', contract, method, ...args)
    await looked()
    const settle = call('relayer', contract, method, args)
    await reorganise(2, [
      [await opening('alice', A, envelope), 0],
      [settle, 1],
    ])
    await looked()
    expect(await chain().read('escrow', 'orders', A)).toMatchObject({ 5: 2n })
    expect(await keys()).toEqual([A])
  })
})

test('a chain that was reset is followed from its new head', async () => {
  const snapshot = await chain().provider.send('evm_snapshot', [])
  await chain().provider.send('anvil_mine', ['0x100'])
  const { place, until, looked } = await setUp()
  await looked()
  await chain().provider.send('evm_revert', [snapshot])
  await openFor(chain(), 'alice', B, await sealOrder('another'))
  await place('alice', A)
  await until(A, 'its run', (record) => outcomes(record)[0] === 'placed')
})
