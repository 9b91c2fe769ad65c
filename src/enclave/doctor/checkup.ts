import { checkBroker } from '../../broker/checkup.js'
import { type Broker, BrokerError, createBroker } from '../../broker/index.js'
import { checkDeployment, checkNodes, stoppedAnswering } from '../../chain/checkup.js'
import { formatFees } from '../../protocol/fees.js'
import { type EnclaveReport, type Finding, fault, ok, unchecked } from '../../protocol/finding.js'
import type { Hex } from '../../protocol/hex.js'
import type { ChainState } from '../chainState.js'
import { systemClock } from '../clock.js'
import { addressesOf, brokerOptionsOf, type TradingConfig } from '../commonConfig.js'
import type { CommonConfig } from '../commonSettings.js'
import type { EnclaveKeys } from '../keys/keys.js'
import { countForeign, SHARED } from '../ownership.js'
import { lookAtRelay } from '../relay.js'
import { checkBooks } from './books.js'
import { chainOf } from './chain.js'
import { checkMasterKey } from './masterKey.js'
import { checkActions } from './proposed.js'

/** The keys of an enclave, and what is public of them. */
export interface KeysInUse {
  readonly keys: Pick<EnclaveKeys, 'ledgerKey'>
  /** The address of the signing key. */
  readonly signer: Hex
  /** The key that clients seal to, 33 bytes. */
  readonly sealKey: Hex
  /** What a finding calls the signer and the ledger's key. */
  readonly names: { readonly signer: string; readonly master: string }
}

/**
 * Checks an enclave's configuration against chain, broker and relay, and reports the parts of it that are not secret.
 * @param account whose portfolio the master key has to open; left out: the one that was written last
 * @param money whether to hold every portfolio against chain and broker, which reads all of them
 */
export async function checkEnclave(
  config: TradingConfig,
  inUse: KeysInUse,
  { account, money = false }: { account?: Hex | undefined; money?: boolean | undefined } = {},
): Promise<EnclaveReport> {
  const [chain, broker, relay] = await Promise.all([
    checkChain(config, inUse, { account, money }),
    checkBroker(createBroker(brokerOptionsOf(config)), { trades: true }),
    checkRelay(config),
  ])
  return {
    findings: [ok('configuration', 'complete'), ...chain, ...broker.findings, relay],
    facts: {
      chainId: config.CHAIN_ID,
      contracts: addressesOf(config),
      signer: inUse.signer,
      intentPublicKey: inUse.sealKey,
      brokerFees: formatFees(config.BROKER_FEES),
      brokerAccount: broker.accountId,
    },
  }
}

async function checkChain(
  config: TradingConfig,
  { keys, signer, names }: KeysInUse,
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
  const findings = [...nodes, ...witnesses]
  try {
    const deployment = await checkDeployment({ rpc, addresses, signer, signerName: names.signer })
    const isRight = deployment.every(({ result }) => result !== 'fault')
    findings.push(
      ...deployment,
      isRight
        ? await checkOwnership(broker, chain)
        : unchecked('broker-alone', 'the escrow cannot be asked before the contracts are right'),
    )
    const ledger = addresses.confidentialLedger
    if (isRight) findings.push(...(await checkActions(rpc, chain, broker)))
    findings.push(await checkMasterKey({ rpc, chainId, ledger, keys, name: names.master, account }))
    if (money) findings.push(...(await checkBooks(config, { rpc, chain, broker, keys })))
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

async function checkRelay({ RELAY_URL, RELAY_AUTH_TOKEN, RELAY_TIMEOUT }: CommonConfig): Promise<Finding> {
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
