import { type Filter, Interface, type Log, type LogDescription, type Provider } from 'ethers'
import { z } from 'zod'
import { createConfidentialLedger } from '../../chain/confidentialLedger.js'
import { ChainUnavailableError, isChainFailure } from '../../chain/errors.js'
import { confidentialLedgerAbi } from '../../chain/generated/confidentialLedgerAbi.js'
import { type Finding, fault, ok, unchecked } from '../../protocol/finding.js'
import { bytes32Schema, type Hex, hexToBytes } from '../../protocol/hex.js'
import { accountIdOf } from '../../protocol/identifiers.js'
import { ledgerKey, openBlob } from '../../protocol/ledgerBlob.js'

interface MasterKeyCheckup {
  readonly provider: Provider
  readonly chainId: number
  readonly ledger: Hex
  readonly masterKey: Hex
  /** Whose portfolio to open; left out: the portfolio or rulebook that was written last is looked for. */
  readonly account?: Hex | undefined
}

/** Whose blob it is. */
interface Owner {
  readonly kind: 'account' | 'org'
  readonly id: Hex
}

/** Blocks that one query spans at first: what most public nodes answer. */
const SPAN = 2_000
/** Blocks that are searched backwards from the head at most. */
const MAX_BLOCKS = 100_000
/** Of nodes that answer shorter spans only, how many are asked for. */
const MAX_QUERIES = 200

const ledgerInterface = new Interface(confidentialLedgerAbi)
const TOPICS = ['PortfolioUpdated', 'PolicyUpdated'].map(
  (name) => ledgerInterface.getEvent(name)?.topicHash ?? '',
)

/**
 * Proves that the master key opens a blob that is on the chain, without showing anything of it: this is how a restored
 * backup is tried.
 * @throws ChainUnavailableError, ChainAnswerError
 */
export async function checkMasterKey(checkup: MasterKeyCheckup): Promise<Finding> {
  const { provider, account } = checkup
  const head = await provider.getBlockNumber()
  if (account) return proveBy(checkup, { kind: 'account', id: accountIdOf(account) }, head)
  const { owner, searched } = await lastWritten(checkup, head)
  if (owner) return proveBy(checkup, owner, head)
  return unchecked(
    'master-key',
    searched === 0
      ? 'the nodes do not give the events of a single block: name an account that has a portfolio with --account'
      : `no portfolio or rulebook was written in the last ${searched} blocks: name an account that has a portfolio \
with --account, or look again after the first rulebook`,
  )
}

/** Whose the last portfolio or rulebook is, and how many blocks were searched for it. */
async function lastWritten(
  { provider, ledger }: MasterKeyCheckup,
  head: number,
): Promise<{ owner?: Owner; searched: number }> {
  let span = SPAN
  let toBlock = head
  for (let query = 0; query < MAX_QUERIES && toBlock >= 0 && head - toBlock < MAX_BLOCKS; query++) {
    const fromBlock = Math.max(0, toBlock - span + 1)
    const logs = await logsOf(provider, { address: ledger, topics: [TOPICS], fromBlock, toBlock })
    const last = logs?.at(-1)
    const event = last && ledgerInterface.parseLog(last)
    if (event) return { owner: ownerOf(event), searched: head - fromBlock + 1 }
    if (logs !== null) toBlock = fromBlock - 1
    else if (span === 1) break
    else span = Math.floor(span / 2)
  }
  return { searched: head - toBlock }
}

/** Null when the nodes refuse: each has a limit of its own on blocks, and words of its own for it. */
async function logsOf(provider: Provider, filter: Filter): Promise<Log[] | null> {
  try {
    return await provider.getLogs(filter)
  } catch (error) {
    if (!isChainFailure(error) || error instanceof ChainUnavailableError) throw error
    return null
  }
}

const ownerSchema = z.union([
  z
    .object({ accountId: bytes32Schema })
    .transform(({ accountId }): Owner => ({ kind: 'account', id: accountId })),
  z.object({ orgId: bytes32Schema }).transform(({ orgId }): Owner => ({ kind: 'org', id: orgId })),
])

function ownerOf(event: LogDescription): Owner {
  return ownerSchema.parse(event.args.toObject())
}

async function proveBy(
  { provider, chainId, ledger, masterKey }: MasterKeyCheckup,
  owner: Owner,
  block: number,
) {
  const contract = createConfidentialLedger(provider, ledger)
  const { kind, id } = owner
  const [version, blob] = await Promise.all(
    kind === 'account'
      ? [contract.portfolioVersion(id, block), contract.enclaveBlob(id, block)]
      : [contract.policyVersion(id, block), contract.policyBlob(id, block)],
  )
  const what = kind === 'account' ? 'portfolio' : 'rulebook'
  if (BigInt(version) === 0n)
    return unchecked('master-key', 'the account named by --account has no portfolio')
  try {
    await openBlob(blob, ledgerKey(hexToBytes(masterKey), kind, id), {
      chainId,
      ledger,
      id,
      version: BigInt(version),
    })
    return ok('master-key', `LEDGER_MASTER_KEY opens a ${what} that is on the chain (version ${version})`)
  } catch {
    return fault(
      'master-key',
      `LEDGER_MASTER_KEY does not open a ${what} that is on the chain: restore the one that the ledger was written \
with, and let no order run before`,
    )
  }
}
