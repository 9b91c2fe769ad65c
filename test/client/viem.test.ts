// A viem WalletClient as the wallet: one whose account signs by itself, and one of a wallet behind EIP-1193.

import { createWalletClient, custom, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { hexOf } from '../../src/protocol/hex.js'
import { WALLET_USDC, walletOf } from './clientSetting.js'
import { ONE, usePlacing } from './placing.js'

const { chain, posted, balance, setting } = await usePlacing()

it('a local account of viem derives the key that the same account has elsewhere, and opens a buy at its own cost', async () => {
  const signer = walletOf(chain(), 'alice')
  const account = privateKeyToAccount(hexOf(32).parse(signer.privateKey))
  const wallet = createWalletClient({ account, transport: http(chain().anvil.rpcUrl) })
  const { client, buy } = await setting({ wallet })
  const { client: other } = await setting({ wallet: signer })
  expect(await client.unlock()).toEqual(await other.unlock())
  const { order, opened } = await client.placeOrder(buy)
  expect(await chain().read('escrow', 'orders', order.orderId)).toContain(order.commit)
  expect((await chain().provider.getTransaction(opened.txHash))?.from).toBe(chain().account('alice'))
  expect(posted()).toHaveLength(1)
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

it('an account of the wallet behind a WalletClient is asked as EIP-1193 has it', async () => {
  const asked: string[] = []
  const request = async ({ method, params }: { method: string; params?: unknown[] }) => {
    asked.push(method)
    if (method === 'eth_requestAccounts') return [chain().account('bob')]
    return chain().provider.send(method, params ?? [])
  }
  const wallet = createWalletClient({ transport: custom({ request }) })
  const { client } = await setting({ wallet })
  expect(await client.getAccount()).toBe(chain().account('bob'))
  expect(asked).toEqual(['eth_requestAccounts'])
})
