// The invariants of the platform's money, checked by the module that the doctor runs.
import { expect } from 'vitest'
import { createRpc } from '../../../src/chain/rpc.js'
import { createChainState } from '../../../src/enclave/chainState.js'
import { systemClock } from '../../../src/enclave/clock.js'
import type { Disagreement } from '../../../src/enclave/doctor/invariants.js'
import { createPortfolioStore } from '../../../src/enclave/stores.js'
import { type Hex, hexToBytes } from '../../../src/protocol/hex.js'
import { ledgerKey } from '../../../src/protocol/ledgerBlob.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { BROKER_CASH } from '../../../src/sandbox/settings.js'
import { findDisagreements as find } from '../../enclave/support/invariants.js'

/** Opens every portfolio as the enclave would, and holds them against chain and broker. */
export async function checkInvariants(desk: { sandbox: Sandbox }): Promise<void> {
  expect(await findDisagreements(desk)).toEqual([])
}

/**
 * The rules that do not hold.
 *
 * @param wallets that hold USDC besides those of the sandbox's own roles
 */
export async function findDisagreements({
  sandbox,
  wallets = [],
}: {
  sandbox: Sandbox
  wallets?: readonly Hex[]
}): Promise<Disagreement[]> {
  const { info, accounts, secrets, broker } = sandbox
  const rpc = createRpc({ chainId: info.chainId, urls: [info.rpcUrl], timeoutMs: 20_000 })
  const { usdc: _, ...addresses } = info.contracts
  const chain = createChainState({
    rpc,
    chainId: info.chainId,
    addresses,
    depth: 0,
    maxHeadAgeMs: Number.MAX_SAFE_INTEGER,
    clock: systemClock,
  })
  const { employees, ...others } = accounts
  const masterKey = hexToBytes(secrets.keys.LEDGER_MASTER_KEY)
  return find({
    chain,
    rpc,
    portfolios: createPortfolioStore(chain, { ledgerKey: (owner, id) => ledgerKey(masterKey, owner, id) }),
    wallets: [...[...Object.values(others), ...employees].map(({ address }) => address), ...wallets],
    broker,
    brokerCashAtStart: BROKER_CASH,
  })
}
