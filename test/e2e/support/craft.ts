// Orders that no honest client makes: a test chooses every step.
import * as z from 'zod'
import { commitOf, type Envelope, ORDER_PLACE, POLICY_PLACE, seal } from '../../../src/protocol/envelope.js'
import { bytesToHex, type Hex } from '../../../src/protocol/hex.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { intentDigest, intentSchema, type UnsignedIntent } from '../../../src/protocol/intent.js'
import {
  policyIntentDigest,
  rulebookSchema,
  type UnsignedRulebook,
} from '../../../src/protocol/policyIntent.js'
import { signDigest } from '../../../src/protocol/signDigest.js'
import { ONE_USDC } from '../../../src/protocol/units.js'
import type { SandboxAccount } from '../../../src/sandbox/accounts.js'
import { INSTITUTION } from '../../../src/sandbox/settings.js'
import type { Desk } from './desk.js'
import type { Trader } from './trader.js'

/** A sealed order with everything that led to it. */
interface Crafted {
  intent: UnsignedIntent
  envelope: Envelope
  commit: Hex
}

const LIFETIME = 3_600

/** Signs and seals an intent; `change` makes it wrong. */
export async function craft(
  desk: Desk,
  trader: Trader,
  change: Partial<Extract<UnsignedIntent, { v: 1 }>> = {},
  signer: SandboxAccount = trader.account,
): Promise<Crafted> {
  const platform = await trader.client.getPlatform()
  const { publicKey } = await trader.client.unlock()
  const intent: UnsignedIntent = {
    v: 1,
    orderId: bytesToHex(crypto.getRandomValues(new Uint8Array(32))),
    account: trader.account.address,
    orgId: nameToBytes32(INSTITUTION),
    side: 'SELL',
    symbol: 'AAPL',
    maxSpend: 10n * ONE_USDC,
    expiry: (await desk.chainTime()) + LIFETIME,
    nonce: Date.now(),
    userPubKey: publicKey,
    ...change,
  }
  const domain = { chainId: desk.sandbox.info.chainId, escrow: desk.contracts.escrow.address }
  const sig = signDigest(intentDigest(intent, domain), signer.privateKey)
  const wire = z.encode(intentSchema, { ...intent, sig })
  const envelope = await seal(wire, platform.enclavePublicKey, ORDER_PLACE)
  return { intent, envelope, commit: commitOf(envelope) }
}

/** Signs and seals an empty rulebook as this version, of the desk's institution by its admin unless told. */
export async function craftRulebook(
  desk: Desk,
  version: number,
  {
    orgId = nameToBytes32(INSTITUTION),
    admin = desk.sandbox.accounts.admin,
  }: { orgId?: Hex; admin?: SandboxAccount } = {},
): Promise<Envelope> {
  const { info } = desk.sandbox
  const { enclavePublicKey } = await desk.admin.getPlatform()
  const rulebook: UnsignedRulebook = {
    v: 1,
    orgId,
    admin: admin.address,
    policy: { employees: {}, maxOrderNotional: ONE_USDC, allowWithdrawShares: false },
    version,
  }
  const domain = { chainId: info.chainId, escrow: desk.contracts.escrow.address }
  const sig = signDigest(policyIntentDigest(rulebook, domain), admin.privateKey)
  const wire = z.encode(rulebookSchema, { ...rulebook, sig })
  return seal(wire, enclavePublicKey, POLICY_PLACE)
}
