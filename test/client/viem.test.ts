// A viem WalletClient as the wallet: one whose account signs by itself, and one of a wallet behind EIP-1193.
import { createWalletClient, custom, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { hexOf } from '../../src/protocol/hex.js'
import { WALLET_USDC, walletOf } from './clientSetting.js'
import { ONE, usePlacing } from './placing.js'

const { chain, balance, setting } = await usePlacing()

it('a local account of viem derives the key that the same account has elsewhere, and opens a buy at its own cost', async () => {
  const signer = walletOf(chain(), 'alice')
  const account = privateKeyToAccount(hexOf(32).parse(signer.privateKey))
  const wallet = createWalletClient({ account, transport: http(chain().anvil.rpcUrl) })
  const { client, buy } = await setting({ wallet })
  const { client: other } = await setting({ wallet: signer })
  expect(await client.unlock()).toEqual(await other.unlock())
  await client.placeOrder(buy)
  expect(await balance()).toBe(WALLET_USDC - 25n * ONE)
})

/** A wallet with two accounts; the first is Alice's. */
function walletOfTwo(asked: string[] = []) {
  const request = async ({ method, params }: { method: string; params?: unknown[] }) => {
    asked.push(method)
    if (method === 'eth_requestAccounts') return [chain().account('alice'), chain().account('bob')]
    return chain().provider.send(method, params ?? [])
  }
  return custom({ request })
}

it('a WalletClient that was made for an account trades as that one, whichever the wallet behind it reveals first', async () => {
  const asked: string[] = []
  const { client: unnamed } = await setting({ wallet: createWalletClient({ transport: walletOfTwo(asked) }) })
  expect(await unnamed.getAccount()).toBe(chain().account('alice'))
  expect(asked).toEqual(['eth_requestAccounts'])
  const account = chain().account('bob')
  for (const transport of [walletOfTwo(), http(chain().anvil.rpcUrl)]) {
    const { client } = await setting({ wallet: createWalletClient({ account, transport }) })
    expect(await client.getAccount()).toBe(account)
    const { txHash } = await client.setAllowance(1n)
    expect((await chain().provider.getTransaction(txHash))?.from).toBe(account)
  }
})

it('a signer of one account is not taken for another', async () => {
  const signer = walletOf(chain(), 'alice')
  const [alice, bob] = [chain().account('alice'), chain().account('bob')]
  const local = privateKeyToAccount(hexOf(32).parse(signer.privateKey))
  const wallets = [
    signer,
    createWalletClient({ account: local, transport: http(chain().anvil.rpcUrl) }),
    createWalletClient({ account: alice, transport: walletOfTwo() }),
  ]
  for (const wallet of wallets) {
    const { client } = await setting({ wallet, account: bob })
    await expect(client.setAllowance(1n)).rejects.toMatchObject({ code: 'no-account' })
    expect(await (await setting({ wallet, account: alice })).client.getAccount()).toBe(alice)
  }
})
