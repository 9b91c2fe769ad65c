import { computeAddress, formatEther } from 'ethers'
import { checkBroker } from '../../broker/checkup.js'
import { createBroker } from '../../broker/index.js'
import { checkDeployment } from '../../chain/deploymentCheckup.js'
import { currentFees, leastBalance } from '../../chain/fees.js'
import { checkNodes, stoppedAnswering } from '../../chain/nodeCheckup.js'
import { RpcProvider } from '../../chain/provider.js'
import { type Finding, fault, ok, unchecked } from '../../protocol/finding.js'
import { type Config, ConfigError } from '../../server/config.js'
import { checkStores } from './stores.js'

/** What the server's part found, and what the enclave's is compared with. */
export interface ServerReport {
  readonly findings: Finding[]
  /** Null when the configuration can't be used. */
  readonly facts: { readonly config: Config; readonly brokerAccount: string | null } | null
}

/** Checks the server's configuration against chain, broker and stores. Asks the running server nothing. */
export async function checkServer(load: () => Config): Promise<ServerReport> {
  const config = loaded(load)
  if (config instanceof ConfigError) {
    const faults = config.faults.map(({ name, problem }) => fault('configuration', `${name}: ${problem}`))
    return { findings: faults, facts: null }
  }
  const marketData = createBroker({
    ...config.broker,
    keyId: config.broker.keyId.reveal(),
    secretKey: config.broker.secretKey.reveal(),
  })
  const [chain, broker, stores] = await Promise.all([
    checkChain(config),
    checkBroker(marketData, { trades: false }),
    checkStores(config),
  ])
  return {
    findings: [ok('configuration', 'complete'), ...chain, ...broker.findings, ...stores],
    facts: { config, brokerAccount: broker.accountId },
  }
}

function loaded(load: () => Config): Config | ConfigError {
  try {
    return load()
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

async function checkChain({ chain, enclave, relay }: Config): Promise<Finding[]> {
  const options = { urls: chain.rpcUrls.reveal(), timeoutMs: chain.rpcTimeoutMs, chainId: chain.chainId }
  const nodes = await checkNodes(options)
  if (!nodes.some(({ result }) => result === 'ok')) {
    return [
      ...nodes,
      ...['contract-code', 'relayer-balance'].map((check) => unchecked(check, 'no node to ask')),
    ]
  }
  const provider = new RpcProvider(options)
  const { signer } = enclave
  try {
    const [deployment, balances] = await Promise.all([
      checkDeployment({ provider, addresses: chain.contracts, signer, signerName: 'ENCLAVE_SIGNER' }),
      Promise.all(relay.relayerKeys.map((key) => checkBalance(provider, key, relay))),
    ])
    return [...nodes, ...deployment, ...balances]
  } catch (error) {
    return [...nodes, stoppedAnswering(error)]
  } finally {
    provider.destroy()
  }
}

async function checkBalance(
  provider: RpcProvider,
  relayerKey: Config['relay']['relayerKeys'][number],
  { minBalance, maxFeePerGas }: Config['relay'],
): Promise<Finding> {
  if (relayerKey.kind === 'kms') {
    return unchecked(
      'relayer-balance',
      "the relayer's key is in AWS KMS: take its address from GET /health of the running server, and see its balance",
    )
  }
  const relayer = computeAddress(relayerKey.privateKey.reveal())
  const [balance, fees] = await Promise.all([
    provider.getBalance(relayer),
    currentFees(provider, maxFeePerGas),
  ])
  const least = leastBalance(minBalance, fees)
  const has = `the relayer ${relayer} has ${formatEther(balance)} ether`
  return balance > 0n && balance >= least
    ? ok('relayer-balance', has)
    : fault(
        'relayer-balance',
        `${has}, an order takes ${formatEther(least)} at what gas costs now, RELAY_MIN_BALANCE of it to be kept: fund it, or nothing new is relayed`,
      )
}
