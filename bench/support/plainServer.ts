import { z } from 'zod'
import { type Peer, startPeer } from './peer.js'
import type { RelayChain } from './relayChain.js'

const text = z.string()

/** What the plain relay is told. */
export const plainRelaySchema = z.strictObject({
  rpcUrl: text,
  chainId: z.int(),
  ledger: text,
  privateKey: text,
  /** Of the enclave's key. */
  signer: text,
})
export type PlainRelay = z.output<typeof plainRelaySchema>

/** Starts the plain relay in its own process. */
export function startPlainRelay({ rpcUrl, chainId, contracts, accounts, signer }: RelayChain): Promise<Peer> {
  const { privateKey } = accounts.plain
  const task: PlainRelay = { rpcUrl, chainId, ledger: contracts.confidentialLedger, privateKey, signer }
  return startPeer('./plainRelay.ts', task)
}
