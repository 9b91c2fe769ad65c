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
    const { client, buy } = await setting({ wallet: createTestWallet(chain(), { ...wallet, asked }) })
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
      expect(asked.map((method) => KIND_OF[method])).toEqual(plan.map(({ kind }) => kind))
      expect(asked).toHaveLength(times)
      asked.length = 0
    }
  },
)

it('a deposit of a wallet that batches is two requests, too', async () => {
  const asked: string[] = []
  const { client } = await setting({ wallet: createTestWallet(chain(), { atomic: 'supported', asked }) })
  await client.unlock()
  asked.length = 0
  await client.placeOrder({ side: 'DEPOSIT', usdc: 25n * ONE })
  expect(asked).toEqual(['eth_signTypedData_v4', 'wallet_sendCalls'])
})

it('a plan says what each request is for, with the amounts', async () => {
  const { client, buy, sale } = await setting()
  const { client: batching } = await setting({ wallet: createTestWallet(chain(), { atomic: 'supported' }) })
  const words = async (of: typeof client, ...args: Parameters<typeof client.plan>) =>
    (await of.plan(...args)).map(({ why }) => why).join(' ')
  const back = 'You get it back if the order is refused.'
  expect(await words(client, buy)).toMatch(
    `Allows the payment of 25.00 USDC, for this order alone. Pays 25.00 USDC into the escrow. ${back}`,
  )
  expect(await words(client, buy, APPROVE)).toMatch('Lets the escrow take 100.00 USDC. Pays 25.00 USDC into')
  expect(await words(batching, buy)).toMatch('Approves and pays 25.00 USDC into the escrow.')
  expect(await words(batching, buy, APPROVE)).toMatch('Lets the escrow take 100.00 USDC, and pays 25.00 USDC')
  expect(await words(client, sale, { sponsored: true })).toMatch(
    'No amount shows there. The platform sends it and pays the network fee.',
  )
})
