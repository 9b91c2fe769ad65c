// Portfolios and notices, as the employee opens them: sections 10 and 11 of docs/protocol.md.
import { fromHex, type Hex, toHex, uint64be } from './bytes.js'
import type { Chain } from './chain.js'
import { type Envelope, open } from './envelope.js'
import { accountIdOf } from './identifiers.js'
import { hexOf, integerOf, type JsonObject, mapOf, objectOf, textOf, unitsOf } from './json.js'
import type { PortfolioKey } from './portfolioKey.js'

export interface Position {
  readonly qty: bigint
  readonly locked: bigint
}

export interface OpenOrder {
  readonly side: string
  readonly symbol: string
  readonly notional: bigint
  readonly escrow: bigint
  readonly locked: bigint
  readonly brokerOrderId: string
  readonly placedAt: number
}

export interface Portfolio {
  readonly cash: bigint
  readonly positions: Readonly<Record<string, Position>>
  readonly openOrders: Readonly<Record<string, OpenOrder>>
  readonly nonce: number
  readonly userPubKey: Hex
}

export interface Notice {
  readonly orderId: Hex
  readonly code: string
  readonly message: string
}

/** `0x01 ‖ epk (33) ‖ iv (12) ‖ tag (16) ‖ ct` */
function envelopeOfBlob(blob: Buffer): Envelope {
  if (blob[0] !== 1) throw new Error('another version of blobs')
  return {
    epk: toHex(blob.subarray(1, 34)),
    iv: toHex(blob.subarray(34, 46)),
    tag: toHex(blob.subarray(46, 62)),
    ct: toHex(blob.subarray(62)),
  }
}

function portfolioOf(value: unknown): Portfolio {
  const body = objectOf(value)
  const position = (inner: JsonObject) => ({ qty: unitsOf(inner, 'qty'), locked: unitsOf(inner, 'locked') })
  const openOrder = (inner: JsonObject) => ({
    side: textOf(inner, 'side'),
    symbol: textOf(inner, 'symbol'),
    notional: unitsOf(inner, 'notional'),
    escrow: unitsOf(inner, 'escrow'),
    locked: unitsOf(inner, 'locked'),
    brokerOrderId: textOf(inner, 'brokerOrderId'),
    placedAt: integerOf(inner, 'placedAt'),
  })
  return {
    cash: unitsOf(body, 'cash'),
    positions: mapOf(body.positions, position),
    openOrders: mapOf(body.openOrders, openOrder),
    nonce: integerOf(body, 'nonce'),
    userPubKey: hexOf(body, 'userPubKey'),
  }
}

export function openUserBlob(blob: Hex, accountId: Buffer, version: bigint, key: PortfolioKey): Portfolio {
  const context = Buffer.concat([accountId, uint64be(version)])
  return portfolioOf(open('portfolio', context, envelopeOfBlob(fromHex(blob)), key.privateKey))
}

/** Resolves with undefined while the wallet has no portfolio. */
export async function readPortfolio(
  chain: Chain,
  ledger: Hex,
  key: PortfolioKey,
): Promise<Portfolio | undefined> {
  const accountId = accountIdOf(chain.account)
  const args = [toHex(accountId)]
  const block = await chain.blockNumber()
  const version = await chain.readInteger(ledger, 'portfolioVersion', args, block)
  if (version === 0n) return undefined
  return openUserBlob(await chain.readBytes(ledger, 'userBlob', args, block), accountId, version, key)
}

/** Why an order was refused. */
export function openNotice(orderId: Hex, envelope: Envelope, key: PortfolioKey): Notice {
  const body = objectOf(open('notice', fromHex(orderId, 32), envelope, key.privateKey))
  if (textOf(body, 'orderId') !== orderId) throw new Error('the notice of another order')
  return { orderId: hexOf(body, 'orderId'), code: textOf(body, 'code'), message: textOf(body, 'message') }
}
