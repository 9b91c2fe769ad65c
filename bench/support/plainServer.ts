import { z } from 'zod'
import { startHelper } from './childProcess.js'
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

const portSchema = z.strictObject({ port: z.int() })

/** Starts the plain relay in its own process. */
export async function startPlainRelay({ rpcUrl, chainId, contracts, accounts, signer }: RelayChain) {
  const helper = startHelper('./plainRelay.ts')
  const { privateKey } = accounts.plain
  const told: PlainRelay = { rpcUrl, chainId, ledger: contracts.confidentialLedger, privateKey, signer }
  const { port } = await helper.ask(told, portSchema)
  return { url: `http://127.0.0.1:${port}`, pid: helper.pid, stop: helper.stop }
}
