import { formatEther } from 'ethers'
import { checkBroker } from '../../broker/checkup.js'
import { createBroker } from '../../broker/index.js'
import { checkDeployment, checkNodes, stoppedAnswering } from '../../chain/checkup.js'
import { balanceOf, currentFees, leastBalance } from '../../chain/fees.js'
import { createRpc, type Rpc } from '../../chain/rpc.js'
import { type Finding, fault, ok, unchecked } from '../../protocol/finding.js'
import { addressOfKey } from '../../protocol/publicKey.js'
import { describeError, type Logger } from '../../service/logger.js'
import type { Config } from './config.js'

/** Checks a configuration against the chain and the broker. Sends nothing and changes nothing. */
export async function checkConfiguration(config: Config) {
  const { keyId, secretKey } = config.broker
  const keys = { keyId: keyId.reveal(), secretKey: secretKey.reveal() }
  const broker = createBroker({ ...config.broker, ...keys })
  const [ofChain, ofBroker] = await Promise.all([checkChain(config), checkBroker(broker, { trades: false })])
  return {
    findings: [...ofChain, ...ofBroker.findings],
    /** The broker's id of the account whose prices are read; null when it did not say. */
    brokerAccount: ofBroker.accountId,
  }
}

/** Logs each fault of a check. The server starts in spite of them: nodes and broker may come back. Never rejects. */
export async function logConfigurationFaults(config: Config, logger: Logger): Promise<void> {
  try {
    const { findings } = await checkConfiguration(config)
    for (const { check, result, text } of findings) {
      if (result === 'fault') logger.warn('configuration fault found', { code: check, reason: text })
    }
  } catch (error) {
    logger.warn('configuration not checked', describeError(error))
  }
}

/** Asks each node by itself, and the rest as the server does. */
async function checkChain(config: Config): Promise<Finding[]> {
  const { rpcUrls, rpcTimeoutMs: timeoutMs, chainId } = config.chain
  const options = { urls: rpcUrls.reveal(), timeoutMs, chainId }
  const nodes = await checkNodes(options)
  if (nodes.some(({ result }) => result === 'ok'))
    return [...nodes, ...(await askChain(config, createRpc(options)))]
  const unasked = ['contract-code', 'relayer-balance'].map((check) => unchecked(check, 'no node to ask'))
  return [...nodes, ...unasked]
}

async function askChain({ chain, enclave, relay }: Config, rpc: Pick<Rpc, 'send'>): Promise<Finding[]> {
  const { signer } = enclave
  try {
    const [deployment, balance] = await Promise.all([
      checkDeployment({ rpc, addresses: chain.contracts, signer, signerName: 'ENCLAVE_SIGNER' }),
      checkBalance(rpc, relay),
    ])
    return [...deployment, balance]
  } catch (error) {
    return [stoppedAnswering(error)]
  }
}

async function checkBalance(
  rpc: Pick<Rpc, 'send'>,
  { relayerKey, minBalance, maxFeePerGas }: Config['relay'],
): Promise<Finding> {
  if (relayerKey.kind === 'kms') {
    return unchecked(
      'relayer-balance',
      "the relayer's key is in AWS KMS: read its address from GET /health of the running server, and see its balance",
    )
  }
  const relayer = addressOfKey(relayerKey.privateKey.reveal())
  const [balance, fees] = await Promise.all([balanceOf(rpc, relayer), currentFees(rpc, maxFeePerGas)])
  const least = leastBalance(minBalance, fees)
  const has = `the relayer ${relayer} has ${formatEther(balance)} ether`
  return balance > 0n && balance >= least
    ? ok('relayer-balance', has)
    : fault(
        'relayer-balance',
        `${has}, an order needs ${formatEther(least)} at the present price of gas, RELAY_MIN_BALANCE of it to be kept: fund it, or nothing new is relayed`,
      )
}
