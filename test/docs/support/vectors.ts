// The frozen vectors, read with nothing but the client that was written from docs/protocol.md.
import { readFileSync } from 'node:fs'
import { fromHex } from '../../support/pageClient/bytes.js'
import {
  hexOf,
  integerOf,
  type JsonObject,
  listOf,
  mapOf,
  objectOf,
  textOf,
} from '../../support/pageClient/json.js'
import type { Intent, Rulebook } from '../../support/pageClient/typedData.js'

/** What a vector file that docs/protocol.md links has at a JSON pointer. */
export function vector(file: string, pointer: string): JsonObject {
  const url = new URL(`../../vectors/${file}.json`, import.meta.url)
  const whole: unknown = JSON.parse(readFileSync(url, 'utf8'))
  const parts = pointer.split('/').filter((part) => part !== '')
  const value = parts.reduce(
    (inner, part) => (Array.isArray(inner) ? inner[Number(part)] : objectOf(inner)[part]),
    whole,
  )
  return Array.isArray(value) ? { all: value } : objectOf(value)
}

export const bytesOf = (object: JsonObject, name: string): Buffer => fromHex(hexOf(object, name))
export const member = (object: JsonObject, name: string): JsonObject => objectOf(object[name])
export const objectsOf = (object: JsonObject, name: string) => listOf(object, name).map(objectOf)

export function intentOf(plaintext: JsonObject): Intent {
  const side = textOf(plaintext, 'side')
  if (side !== 'BUY' && side !== 'DEPOSIT') throw new Error('the vectors have a BUY and two deposits')
  return {
    v: 1,
    orderId: hexOf(plaintext, 'orderId'),
    account: hexOf(plaintext, 'account'),
    orgId: hexOf(plaintext, 'orgId'),
    side,
    symbol: textOf(plaintext, 'symbol'),
    maxSpend: textOf(plaintext, 'maxSpend'),
    expiry: integerOf(plaintext, 'expiry'),
    nonce: integerOf(plaintext, 'nonce'),
    userPubKey: hexOf(plaintext, 'userPubKey'),
  }
}

export function rulebookOf(plaintext: JsonObject): Rulebook {
  const policy = member(plaintext, 'policy')
  const rules = (inner: JsonObject) => ({
    canBuy: inner.canBuy === true,
    canSell: inner.canSell === true,
    restricted: listOf(inner, 'restricted').map(String),
  })
  return {
    v: 1,
    orgId: hexOf(plaintext, 'orgId'),
    admin: hexOf(plaintext, 'admin'),
    policy: {
      employees: mapOf(policy.employees, rules),
      maxOrderNotional: textOf(policy, 'maxOrderNotional'),
      allowWithdrawShares: policy.allowWithdrawShares === true,
    },
    version: integerOf(plaintext, 'version'),
  }
}
