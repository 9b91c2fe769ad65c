import { Interface, type LogDescription, type Provider } from 'ethers'
import { z } from 'zod'
import { createConfidentialLedger } from '../../chain/confidentialLedger.js'
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

/** Blocks that one query spans: what public nodes answer. */
const SPAN = 2_000
/** Spans that are searched backwards from the head. */
const MAX_SPANS = 50

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
  const owner: Owner | undefined = account
    ? { kind: 'account', id: accountIdOf(account) }
    : await lastWritten(checkup, head)
  if (!owner) {
    return unchecked(
      'master-key',
      `no portfolio or rulebook was written in the last ${SPAN * MAX_SPANS} blocks: name an account that has a \
portfolio with --account, or look again after the first rulebook`,
    )
  }
  return proveBy(checkup, owner, head)
}

async function lastWritten({ provider, ledger }: MasterKeyCheckup, head: number): Promise<Owner | undefined> {
  for (let span = 0, toBlock = head; span < MAX_SPANS && toBlock >= 0; span++, toBlock -= SPAN) {
    const fromBlock = Math.max(0, toBlock - SPAN + 1)
    const logs = await provider.getLogs({ address: ledger, topics: [TOPICS], fromBlock, toBlock })
    const last = logs.at(-1)
    const event = last && ledgerInterface.parseLog(last)
    if (event) return ownerOf(event)
  }
  return undefined
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
