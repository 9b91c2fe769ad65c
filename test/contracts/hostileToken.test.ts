import { ContractFactory, Interface, type InterfaceAbi } from 'ethers'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compile } from '../../contracts/compile.js'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import { checksum } from '../../src/protocol/address.js'
import { batchBurn, batchMint, type Call, refund, settlement, signedCall } from '../support/authorizations.js'
import { type ContractKey, INTERFACES, useChain } from '../support/chain.js'
import { AAPL, bytes32, DAY, openBuy, setUpInstitution, soon, USDC, usd } from '../support/institution.js'

const hostile = compile(['test/contracts/fixtures/HostileUsdc.sol']).get('HostileUsdc')
const abi: InterfaceAbi = JSON.stringify(hostile?.abi)
const HOSTILE = new Interface(abi)

const chain = useChain(
  async (set) => {
    await setUpInstitution(set)
    await openBuy(set, 'alice', 'buy', usd(5))
    await set.send('bob', 'pool', 'fund', usd(9))
  },
  {
    async deployUsdc(deployer, provider) {
      const factory = new ContractFactory(abi, hostile?.bytecode ?? '', deployer)
      const { hash } = await deployer.sendTransaction(await factory.getDeployTransaction())
      return checksum(z.string().parse((await waitForReceipt(provider, hash))?.contractAddress))
    },
  },
)

type Entry = [contract: ContractKey, method: string, ...args: unknown[]]

/** Sends a transaction to the token's own switches. */
async function turn(method: string, ...args: unknown[]): Promise<void> {
  const data = HOSTILE.encodeFunctionData(method, args)
  const hash = await chain().provider.send('eth_sendTransaction', [
    { from: chain().account('dave'), to: chain().addressOf('usdc'), data },
  ])
  await waitForReceipt(chain().provider, hash)
}

async function callBackTo([contract, method, ...args]: Entry): Promise<void> {
  await turn('callBack', chain().addressOf(contract), INTERFACES[contract].encodeFunctionData(method, args))
}

const ID = bytes32('another')
const settles = (): Call => signedCall(chain(), settlement(bytes32('buy')))
const refunds = (): Call => signedCall(chain(), refund(bytes32('buy')))
const opens = async (): Promise<Entry> => ['escrow', 'openBuy', ID, ID, usd(1), await soon(chain())]
const REENTERED = { name: 'ReentrancyGuardReentrantCall', args: {} }

describe('while USDC moves, the escrow', () => {
  it.each([
    ['opening', async () => chain().revert('alice', ...(await opens()))],
    ['settling', () => chain().revert('relayer', ...settles())],
    ['refunding', () => chain().revert('relayer', ...refunds())],
    [
      'reclaiming',
      async () => {
        await chain().mineAt((await soon(chain())) + 8 * DAY)
        return chain().revert('alice', 'escrow', 'reclaim', bytes32('buy'))
      },
    ],
  ])('cannot be entered again (%s)', async (_, act) => {
    const entries: Entry[] = [
      await opens(),
      ['escrow', 'openRequest', ID, ID, await soon(chain())],
      settles(),
      refunds(),
      ['escrow', 'reclaim', bytes32('buy')],
    ]
    for (const entry of entries) {
      await callBackTo(entry)
      expect(await act(), entry[1]).toEqual(REENTERED)
    }
  })
})

describe('while USDC moves, the pool', () => {
  it.each([
    ['funding', () => chain().revert('bob', 'pool', 'fund', 1n)],
    ['moving the treasury', () => chain().revert('owner', 'pool', 'transferTreasury', 1n)],
  ])('cannot be entered again (%s)', async (_, act) => {
    const entries: Entry[] = [
      ['pool', 'fund', 1n],
      ['pool', 'transferTreasury', 1n],
      ['pool', 'payout', chain().account('bob'), USDC, 1n],
      signedCall(chain(), batchMint(AAPL, 1n)),
      signedCall(chain(), batchBurn(AAPL, 1n)),
    ]
    for (const entry of entries) {
      await callBackTo(entry)
      expect(await act(), entry[1]).toEqual(REENTERED)
    }
  })
})

describe('USDC that moves nothing and returns false', () => {
  it('fails every function that moves it', async () => {
    await turn('fail')
    const failed = { name: 'SafeERC20FailedOperation', args: { token: chain().addressOf('usdc') } }
    expect(await chain().revert('alice', ...(await opens()))).toEqual(failed)
    expect(await chain().revert('relayer', ...settles())).toEqual(failed)
    expect(await chain().revert('relayer', ...refunds())).toEqual(failed)
    expect(await chain().revert('bob', 'pool', 'fund', 1n)).toEqual(failed)
    expect(await chain().revert('owner', 'pool', 'transferTreasury', 1n)).toEqual(failed)
    await chain().mineAt((await soon(chain())) + 8 * DAY)
    expect(await chain().revert('alice', 'escrow', 'reclaim', bytes32('buy'))).toEqual(failed)
  })
})
