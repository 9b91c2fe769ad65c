// What always holds of the platform's money, whatever happened: the module that the doctor runs.
import { RpcProvider } from '../../../src/chain/provider.js'
import { createChainState } from '../../../src/enclave/chainState.js'
import { systemClock } from '../../../src/enclave/clock.js'
import { createPortfolioStore } from '../../../src/enclave/portfolioStore.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { BROKER_CASH } from '../../../src/sandbox/settings.js'
import { checkInvariants as check } from '../../enclave/support/invariants.js'

/** Opens every portfolio as the enclave would, and holds them against chain and broker. */
export async function checkInvariants({ sandbox }: { sandbox: Sandbox }): Promise<void> {
  const { info, accounts, secrets, broker } = sandbox
  const provider = new RpcProvider({ chainId: info.chainId, urls: [info.rpcUrl], timeoutMs: 20_000 })
  const { usdc: _, ...addresses } = info.contracts
  const chain = createChainState({
    provider,
    chainId: info.chainId,
    addresses,
    depth: 0,
    maxHeadAgeMs: Number.MAX_SAFE_INTEGER,
    clock: systemClock,
  })
  const { employees, ...others } = accounts
  try {
    await check({
      chain,
      provider,
      portfolios: createPortfolioStore(chain, secrets.ledgerMasterKey),
      wallets: [...Object.values(others), ...employees].map(({ address }) => address),
      broker,
      brokerCashAtStart: BROKER_CASH,
    })
  } finally {
    provider.destroy()
  }
}
