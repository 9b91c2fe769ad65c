import { Wallet } from 'ethers'
import { expect } from 'vitest'
import * as z from 'zod'
import { createClient, type OrderTerms } from '../../../src/client/index.js'
import { problemSchema } from '../../../src/protocol/api.js'
import { bytes32Schema, type Hex } from '../../../src/protocol/hex.js'
import type { Desk } from './desk.js'

const bodySchema = z.looseObject({ orderId: bytes32Schema, opening: z.looseObject({ sig: z.string() }) })
/** The body of `POST /orders` with its opening. */
export type SignedBody = z.output<typeof bodySchema>

const BUY = { side: 'BUY', symbol: 'AAPL', usdc: 25_000_000n } as const

/** The body of an order that this key has signed for the platform, and that no server has got. */
export async function signedBy(
  { sandbox, chainTime }: Desk,
  privateKey: Hex,
  wish: OrderTerms = BUY,
): Promise<SignedBody> {
  let body: unknown
  const client = createClient({
    serverUrl: sandbox.info.url,
    wallet: new Wallet(privateKey, sandbox.provider),
    timing: { attempts: 1, baseMs: 1, maxMs: 1 },
    allowUnattested: true,
    async fetch(input, init) {
      if (init?.method !== 'POST') return fetch(input, init)
      body = JSON.parse(String(init.body))
      throw new TypeError('it is kept back')
    },
  })
  const deadline = (await chainTime()) + 3_600
  await expect(client.placeOrder({ ...wish, deadline }, { sponsored: true })).rejects.toMatchObject({
    code: 'server-unreachable',
  })
  return bodySchema.parse(body)
}

/** The answer's status, with the problem's code and revert. */
export async function post({ sandbox }: Desk, body: object) {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${sandbox.info.url}/orders`, {
    ...{ method: 'POST', headers },
    body: JSON.stringify(body),
  })
  if (answer.ok) return { status: answer.status, code: null, revert: undefined }
  const { code, revert } = problemSchema.parse(await answer.json())
  return { status: answer.status, code, revert: revert?.name }
}

/** Whether the server has the order, or the chain. */
export async function isKnown({ sandbox }: Desk, orderId: Hex): Promise<boolean> {
  return (await fetch(`${sandbox.info.url}/orders/${orderId}`)).status === 200
}
