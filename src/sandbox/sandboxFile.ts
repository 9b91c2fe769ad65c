import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContractAddresses } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import type { SandboxAccounts } from './accounts.js'
import type { Places } from './envFiles.js'
import { EQUITIES } from './settings.js'

/** The content of `sandbox.json`, for scripts. */
export interface SandboxFile {
  url: string
  opsUrl: string
  /** Where the enclave reaches the server. */
  relayUrl: string
  rpcUrl: string
  brokerUrl: string
  /** The enclave's URL, unless the server starts it. */
  enclaveUrl?: string
  /** The trading page's URL, if it is served. */
  deskUrl?: string
  chainId: number
  contracts: ContractAddresses & { usdc: Hex }
  symbols: string[]
  accounts: Pick<SandboxAccounts, 'owner' | 'admin' | 'employees' | 'newcomer'>
}

export function describeSandbox(places: Places, usdc: Hex, accounts: SandboxAccounts): SandboxFile {
  const { url, opsUrl, relayUrl, rpcUrl, brokerUrl, enclaveUrl, deskUrl, chainId, contracts } = places
  const { owner, admin, employees, newcomer } = accounts
  return {
    url,
    opsUrl,
    relayUrl,
    rpcUrl,
    brokerUrl,
    ...(enclaveUrl !== undefined && { enclaveUrl }),
    ...(deskUrl !== undefined && { deskUrl }),
    chainId,
    contracts: { ...contracts, usdc },
    symbols: EQUITIES.map(({ symbol }) => symbol),
    accounts: { owner, admin, employees, newcomer },
  }
}

/** Writes `sandbox.json` to the sandbox's directory. */
export function writeSandboxFile(directory: string, file: SandboxFile): Promise<void> {
  return writeFile(join(directory, 'sandbox.json'), `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
}
