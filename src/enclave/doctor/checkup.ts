import { computeAddress } from 'ethers'
import { checkBroker } from '../../broker/checkup.js'
import { type Broker, BrokerError, createBroker } from '../../broker/index.js'
import { checkDeployment, checkNodes, stoppedAnswering } from '../../chain/checkup.js'
import { createRpc } from '../../chain/rpc.js'
import { checksum } from '../../protocol/address.js'
import { formatFees } from '../../protocol/fees.js'
import { type EnclaveReport, type Finding, fault, ok, unchecked } from '../../protocol/finding.js'
import { type Hex, hexToBytes } from '../../protocol/hex.js'
import { publicKeyOf } from '../../protocol/publicKey.js'
import { ConfigError } from '../../service/config.js'
import { type ChainState, createChainState } from '../chainState.js'
import { systemClock } from '../clock.js'
import { addressesOf, brokerOptionsOf } from '../commonConfig.js'
import { type EnclaveConfig, keysOf } from '../config.js'
import { countForeign, SHARED } from '../ownership.js'
import { lookAtRelay } from '../relay.js'
import { checkBooks } from './books.js'
import { checkMasterKey } from './masterKey.js'

/**
 * Checks the enclave's configuration against chain, broker and relay, and reports the parts of it that are not secret.
 * @param account whose portfolio the master key has to open; left out: the one that was written last
 * @param money whether to hold every portfolio against chain and broker, which reads all of them
 */
export async function checkEnclave(
  load: () => EnclaveConfig,
  { account, money = false }: { account?: Hex | undefined; money?: boolean } = {},
): Promise<EnclaveReport> {
  const config = loaded(load)
  if (config instanceof ConfigError) {
    const faults = config.faults.map(({ name, problem }) => fault('configuration', `${name}: ${problem}`))
    return { findings: faults, facts: null }
  }
  const signer = checksum(computeAddress(config.ENCLAVE_PRIVATE_KEY.reveal()))
  const [chain, broker, relay] = await Promise.all([
    checkChain(config, signer, { account, money }),
    checkBroker(createBroker(brokerOptionsOf(config)), { trades: true }),
    checkRelay(config),
  ])
  return {
    findings: [ok('configuration', 'complete'), ...chain, ...broker.findings, relay],
    facts: {
      chainId: config.CHAIN_ID,
      contracts: addressesOf(config),
      signer,
      intentPublicKey: publicKeyOf(hexToBytes(config.INTENT_PRIVATE_KEY.reveal())),
      brokerFees: formatFees(config.BROKER_FEES),
      brokerAccount: broker.accountId,
    },
  }
}

/** The chain at its head, by the enclave's own nodes without the witness: nothing is decided by it. */
export function chainOf(config: EnclaveConfig) {
  const { CHAIN_ID: chainId, RPC_URL: urls, RPC_TIMEOUT: timeoutMs } = config
  const rpc = createRpc({ chainId, urls, timeoutMs })
  const chain = createChainState({
    ...{ rpc, chainId, addresses: addressesOf(config), depth: 0, clock: systemClock },
    ...{ maxHeadAgeMs: config.CHAIN_MAX_HEAD_AGE, pollMs: config.CONFIRM_POLL_INTERVAL },
  })
  return { rpc, chain }
}

function loaded(load: () => EnclaveConfig): EnclaveConfig | ConfigError {
  try {
    return load()
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

async function checkChain(
  config: EnclaveConfig,
  signer: Hex,
  { account, money }: { account: Hex | undefined; money: boolean },
): Promise<Finding[]> {
  const { CHAIN_ID: chainId, RPC_TIMEOUT: timeoutMs, RPC_URL: urls, RPC_WITNESS_URL } = config
  const [nodes, witnesses] = await Promise.all([
    checkNodes({ urls, timeoutMs, chainId }),
    checkNodes({ variable: 'RPC_WITNESS_URL', urls: RPC_WITNESS_URL, timeoutMs, chainId }),
  ])
  if (!nodes.some(({ result }) => result === 'ok')) {
    return [
      ...nodes,
      ...witnesses,
      unchecked('contract-code', 'no node to ask'),
      unchecked('broker-alone', 'no node to ask'),
      unchecked('master-key', 'no node to ask'),
    ]
  }
  const { rpc, chain } = chainOf(config)
  const addresses = addressesOf(config)
  const broker = createBroker(brokerOptionsOf(config))
  const signerName = 'the address of ENCLAVE_PRIVATE_KEY'
  const findings = [...nodes, ...witnesses]
  try {
    const deployment = await checkDeployment({ rpc, addresses, signer, signerName })
    const isRight = deployment.every(({ result }) => result !== 'fault')
    findings.push(
      ...deployment,
      isRight
        ? await checkOwnership(broker, chain)
        : unchecked('broker-alone', 'the escrow cannot be asked before the contracts are right'),
    )
    const ledger = addresses.confidentialLedger
    const keys = keysOf(config)
    findings.push(await checkMasterKey({ rpc, chainId, ledger, keys, account }))
    if (money) findings.push(...(await checkBooks(config, { rpc, chain, broker })))
    return findings
  } catch (error) {
    return [...findings, stoppedAnswering(error)]
  }
}

/** Whether no other deployment trades with the account. @throws ChainUnavailableError, ChainAnswerError */
async function checkOwnership(broker: Broker, chain: ChainState): Promise<Finding> {
  try {
    return (await countForeign({ broker, chain, clock: systemClock })) === 0
      ? ok('broker-alone', 'no other deployment has traded with the account in the last hour')
      : fault('broker-alone', SHARED)
  } catch (error) {
    if (error instanceof BrokerError)
      return unchecked('broker-alone', `the broker does not answer (${error.kind})`)
    throw error
  }
}

async function checkRelay({ RELAY_URL, RELAY_AUTH_TOKEN, RELAY_TIMEOUT }: EnclaveConfig): Promise<Finding> {
  const found = await lookAtRelay({ url: RELAY_URL, token: RELAY_AUTH_TOKEN, timeoutMs: RELAY_TIMEOUT })
  if (found === 'ready') return ok('relay', 'RELAY_URL answers, and takes RELAY_AUTH_TOKEN')
  if (found === 'unauthorized') {
    return fault('relay', 'RELAY_AUTH_TOKEN is refused by the server at RELAY_URL: give both the same one')
  }
  if (found === null) {
    return unchecked('relay', 'RELAY_URL does not answer: when the server runs, look again; else correct it')
  }
  return fault('relay', `RELAY_URL answers with status ${found}: what is there is not the server, or is ill`)
}
