import { keccak256, toUtf8Bytes } from 'ethers'
import type { Hex } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import type { SetUp, TestChain } from './chain.js'
import type { Role } from './roles.js'

export { ZERO_BYTES32 } from '../../src/protocol/hex.js'

export const ORG = nameToBytes32('Acme Capital')
export const AAPL = nameToBytes32('AAPL')
export const MSFT = nameToBytes32('MSFT')
export const USDC = nameToBytes32('USDC')
export const DAY = 86_400

/** One USDC, in base units. */
export const usd = (amount: number): bigint => BigInt(amount) * 1_000_000n
/** Whole shares, in base units. */
export const shares = (amount: number): bigint => BigInt(amount) * 1_000_000_000n

/** 32 bytes that depend on nothing but the text. */
export function bytes32(text: string): Hex {
  return `0x${keccak256(toUtf8Bytes(text)).slice(2)}`
}

/** The wallets that have passed KYC and hold USDC, approved to the escrow. Alice and Bob are members. */
const CLEARED: readonly Role[] = ['admin', 'alice', 'bob', 'carol']
const MEMBERS: readonly Role[] = ['alice', 'bob']
/** The USDC that each of them holds. */
export const FUNDS = usd(1_000_000)

/**
 * One institution with an admin and the members alice and bob; carol is cleared and in none; dave and the relayer
 * are neither. AAPL is listed, MSFT is not.
 */
export const setUpInstitution: SetUp = Object.assign(institute, { saved: 'institution' })

async function institute(chain: TestChain): Promise<void> {
  await chain.send('admin', 'registry', 'registerInstitution', ORG)
  await chain.send('owner', 'registry', 'setAdmitted', ORG, chain.account('admin'), true)
  for (const member of MEMBERS) {
    await chain.send('admin', 'registry', 'setMember', chain.account(member), true)
    await chain.send(member, 'registry', 'join', ORG)
  }
  for (const wallet of CLEARED) {
    await chain.send('owner', 'token', 'setKyc', chain.account(wallet), true)
    await chain.send(wallet, 'usdc', 'mint', chain.account(wallet), FUNDS)
    await chain.send(wallet, 'usdc', 'approve', chain.addressOf('escrow'), FUNDS)
  }
  await chain.send('owner', 'token', 'setListed', AAPL, true)
}

/** A deadline that many blocks will not reach. */
export async function soon(chain: TestChain): Promise<number> {
  return (await chain.now()) + DAY
}

/** Opens a buy as that wallet and returns its id. */
export async function openBuy(chain: TestChain, from: Role, name: string, amount: bigint): Promise<Hex> {
  const orderId = bytes32(name)
  await chain.send(from, 'escrow', 'openBuy', orderId, bytes32(`${name} sealed`), amount, await soon(chain))
  return orderId
}

/** Opens a request as that wallet and returns its id. */
export async function openRequest(chain: TestChain, from: Role, name: string): Promise<Hex> {
  const orderId = bytes32(name)
  await chain.send(from, 'escrow', 'openRequest', orderId, bytes32(`${name} sealed`), await soon(chain))
  return orderId
}
