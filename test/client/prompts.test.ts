// How often each kind of wallet is asked, as the table of docs/client.md says, counted at an EIP-1193 provider.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { PlanOptions } from '../../src/client/index.js'
import { makeContractWallet } from '../contracts/fixtures/contractWallet.js'
import { answerAsServer, receive } from './clientSetting.js'
import { ONE, usePlacing } from './placing.js'
import { createTestWallet, type TestWalletOptions } from './testWallet.js'

const { chain, api, openAsSigned, setting } = await usePlacing()

interface Kind {
  readonly wallet?: Omit<TestWalletOptions, 'prompt'>
  readonly options?: PlanOptions
  /** Its account delegates to some contract, and signs by its own key. */
  readonly isDelegated?: boolean
}

const APPROVE = { approve: 100n * ONE }
const KINDS: Readonly<Record<string, Kind>> = {
  'any with a key of its own, where the platform pays the gas': { options: { sponsored: true } },
  'plain, and pays the gas': {},
  'plain, and pays the gas, with `approve`': { options: APPROVE },
  'batches (EIP-5792)': { wallet: { atomic: 'supported' } },
  'would batch after an upgrade of its account (`ready`)': { wallet: { atomic: 'ready' } },
  'delegates (EIP-7702), and does not batch': { isDelegated: true },
  'delegates (EIP-7702), and does not batch, with `approve`': { isDelegated: true, options: APPROVE },
  'delegates (EIP-7702), and batches': { isDelegated: true, wallet: { atomic: 'supported' } },
  'a contract, with a drawn key': { wallet: { isContract: true } },
  'a contract, with a drawn key and `approve`': { wallet: { isContract: true }, options: APPROVE },
  'a contract, with a drawn key, that batches': { wallet: { isContract: true, atomic: 'supported' } },
}
const KIND_OF: Readonly<Record<string, string>> = {
  personal_sign: 'signature',
  eth_signTypedData_v4: 'signature',
  eth_sendTransaction: 'transaction',
  wallet_sendCalls: 'batch',
}

const [, section = ''] = readFileSync('docs/client.md', 'utf8').split('\n## What the wallet asks\n')
const rows = [...(section.split('\n## ')[0]?.matchAll(/^\| (.+?) +\| (\d) +\| (\d) +\|$/gm) ?? [])].map(
  ([, kind = '', first, later]) => ({ kind, first: Number(first), later: Number(later) }),
)

it('the table of wallets has each kind once', () => {
  expect(rows.map(({ kind }) => kind)).toEqual(Object.keys(KINDS))
})

it.each(rows)(
  'a wallet ($kind) is asked $first times for its first buy, $later for a later one',
  async (row) => {
    const { wallet, options, isDelegated } = KINDS[row.kind] ?? {}
    const asked: string[] = []
    const provider = createTestWallet(chain(), {
      ...wallet,
      prompt(method, act) {
        asked.push(KIND_OF[method] ?? method)
        return act()
      },
    })
    const { client, buy } = await setting({ wallet: provider })
    answerAsServer(api, chain(), ({ method, path, body }) =>
      method === 'POST' && path === '/orders' && options?.sponsored
        ? openAsSigned(body).then(() => receive(body))
        : undefined,
    )
    if (isDelegated) {
      await chain().provider.send('anvil_setCode', [chain().account('alice'), `0xef0100${'00'.repeat(19)}01`])
    }
    if (wallet?.isContract) {
      await makeContractWallet(chain(), 'alice', 'bob')
      await client.importKeys(await client.drawKey())
    }
    for (const times of [row.first, row.later]) {
      const plan = await client.plan(buy, options)
      expect(asked).toEqual([])
      await client.placeOrder(buy, options)
      expect(asked).toEqual(plan.map(({ kind }) => kind))
      expect(asked).toHaveLength(times)
      asked.length = 0
    }
  },
)

it('a deposit of a wallet that batches is two requests, too', async () => {
  const asked: string[] = []
  const provider = createTestWallet(chain(), {
    atomic: 'supported',
    prompt(method, act) {
      asked.push(method)
      return act()
    },
  })
  const { client } = await setting({ wallet: provider })
  await client.unlock()
  asked.length = 0
  await client.placeOrder({ side: 'DEPOSIT', usdc: 25n * ONE })
  expect(asked).toEqual(['eth_signTypedData_v4', 'wallet_sendCalls'])
})

it('a plan says what each request is for, with the amounts', async () => {
  const { client, buy, sale } = await setting()
  const words = async (...args: Parameters<typeof client.plan>) =>
    (await client.plan(...args)).map(({ why }) => why)
  const batching = await setting({ wallet: createTestWallet(chain(), { atomic: 'supported' }) })
  const inOne = async (options?: PlanOptions) => (await batching.client.plan(buy, options)).at(-1)?.why
  expect(await words(buy)).toEqual([
    'Makes the key that opens your portfolio.',
    'Shows that your wallet makes the same key again: it signs the same text a second time.',
    'Is your order. This device then seals it for the enclave.',
    'Allows the payment of 25.00 USDC, for this order alone.',
    'Pays 25.00 USDC into the escrow. You get it back if the order is refused.',
  ])
  await client.unlock()
  expect((await words(buy, APPROVE)).slice(1)).toEqual([
    'Lets the escrow take 100.00 USDC.',
    'Pays 25.00 USDC into the escrow. You get it back if the order is refused.',
  ])
  const refunded = '25.00 USDC into the escrow. You get it back if the order is refused.'
  expect(await inOne()).toBe(`Approves and pays ${refunded}`)
  expect(await inOne(APPROVE)).toBe(`Lets the escrow take 100.00 USDC, and pays ${refunded}`)
  expect(await words(sale, { sponsored: true })).toEqual([
    'Is your order. This device then seals it for the enclave.',
    'Opens the order on the chain. No amount shows there. The platform sends it and pays the network fee.',
  ])
})
