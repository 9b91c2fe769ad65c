import { getRelayReceipt, type RelayReceipt } from '../../client/operator.js'
import type { Hex } from '../../protocol/hex.js'
import { anId } from '../../terminal/arguments.js'
import { fields, shownTime } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { AddCommand } from '../context.js'
import { relayOf } from '../input/connection.js'
import { addServerCommand, type ServerOptions } from '../input/options.js'
import { readSecret } from '../input/secrets.js'

export const addRelay: AddCommand = (root, { env, terminal, signal }) => {
  addServerCommand(root, 'relay', "shows the relay's receipt of an authorization, for operators")
    .argument('<digest>', "the authorization's", anId)
    .option(
      '--token-file <file>',
      "holds the relay's token, readable by its owner alone; or the token itself in TRADING_RELAY_TOKEN",
    )
    .action(async (digest: Hex, options: ServerOptions & { tokenFile?: string }) => {
      const token = readSecret({
        variable: 'TRADING_RELAY_TOKEN',
        value: env.TRADING_RELAY_TOKEN,
        option: 'token-file',
        file: options.tokenFile,
      })
      terminal.result(reportOf(await getRelayReceipt(relayOf(options, env, token), digest, { signal })))
    })
}

function reportOf(receipt: RelayReceipt): Report {
  const { digest, primaryType, target, status, txHash, blockNumber, gasUsed, error } = receipt
  const args = Object.entries(error?.args ?? {}).map(([name, value]) => `${name} ${value}`)
  return {
    json: { ...receipt, gasUsed: gasUsed?.toString() ?? null },
    blocks: [
      fields([
        ['digest', digest],
        ['type', primaryType],
        ['contract', target],
        ['status', status],
        ['transaction', txHash ?? 'none'],
        ['block', blockNumber === null ? 'none' : String(blockNumber)],
        ['gas used', gasUsed === null ? 'none' : { units: gasUsed, decimals: 0 }],
        ['created', shownTime(receipt.createdAt)],
        ['updated', shownTime(receipt.updatedAt)],
        ['error', error === null ? 'none' : [error.name, ...args].join(' ')],
      ]),
    ],
  }
}
