import { z } from 'zod'
import { bytesToHex, type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { ledgerKey, sealBlob } from '../../src/protocol/ledgerBlob.js'
import { type Policy, policySchema } from '../../src/protocol/policy.js'
import {
  emptyPortfolio,
  type OpenOrder,
  type Portfolio,
  portfolioSchema,
} from '../../src/protocol/portfolio.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { ONE_SHARE, ONE_USDC } from '../../src/protocol/units.js'
import { sealUserBlob } from '../../src/protocol/userBlob.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import type { GasChain } from './gasChain.js'

/** What a write of a portfolio carries. */
export interface PortfolioWrite {
  readonly version: bigint
  readonly enclaveBlob: Hex
  readonly userBlob: Hex
}

/** Sealed as the enclave does: a portfolio with a position and that many open orders. */
export async function portfolioWrite(
  chain: GasChain,
  account: SandboxAccount,
  version: bigint,
  openOrders: number,
): Promise<PortfolioWrite> {
  const userPubKey = publicKeyOf(hexToBytes(account.privateKey))
  const value = z.encode(portfolioSchema, examplePortfolio(userPubKey, openOrders))
  const id = accountIdOf(account.address)
  const key = ledgerKey(hexToBytes(chain.secrets.ledgerMasterKey), 'account', id)
  const place = { chainId: chain.chainId, ledger: chain.contracts.confidentialLedger, id, version }
  return {
    version,
    enclaveBlob: await sealBlob(value, key, place),
    userBlob: await sealUserBlob(value, userPubKey, id, version),
  }
}

/** A rulebook of that many employees, each with a restricted symbol. */
export function policyBlob(chain: GasChain, orgId: Hex, version: bigint, employees: number): Promise<Hex> {
  const rules = { canBuy: true, canSell: true, restricted: ['MSFT'] }
  const addresses = Array.from({ length: employees }, () => bytesToHex(random(20)))
  const policy: Policy = {
    employees: Object.fromEntries(addresses.map((address) => [address, rules])),
    maxOrderNotional: 25_000n * ONE_USDC,
    allowWithdrawShares: true,
  }
  const key = ledgerKey(hexToBytes(chain.secrets.ledgerMasterKey), 'org', orgId)
  const place = { chainId: chain.chainId, ledger: chain.contracts.confidentialLedger, id: orgId, version }
  return sealBlob(z.encode(policySchema, policy), key, place)
}

function examplePortfolio(userPubKey: Hex, openOrders: number): Portfolio {
  const orders = Array.from({ length: openOrders }, (): [Hex, OpenOrder] => [
    bytesToHex(random(32)),
    {
      side: 'BUY',
      symbol: 'AAPL',
      notional: 1_000n * ONE_USDC,
      escrow: 1_000n * ONE_USDC,
      locked: 0n,
      brokerOrderId: crypto.randomUUID(),
      placedAt: Math.floor(Date.now() / 1_000),
    },
  ])
  return {
    ...emptyPortfolio(userPubKey),
    cash: 123_456_789n,
    positions: { AAPL: { qty: 4n * ONE_SHARE + 123_456_789n, locked: 0n } },
    openOrders: Object.fromEntries(orders),
    nonce: Date.now(),
  }
}

function random(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length))
}
