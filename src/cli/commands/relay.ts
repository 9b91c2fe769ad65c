import { type Receipt, receiptSchema } from '../../protocol/api.js'
import type { Command } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { COMMON_OPTIONS, readArguments, readId } from '../input/arguments.js'
import { connectServer } from '../input/connection.js'
import { readSecret } from '../input/secrets.js'
import type { Report } from '../terminal/terminal.js'
import { shownTime } from '../terminal/times.js'

export const relayCommand: Command = {
  name: 'relay',
  summary: "shows the relay's receipt of an authorization, for operators",
  help: `relay <digest> [options]

Reads the relay's token from TRADING_RELAY_TOKEN, or from a file that only its owner can read:

  --token-file <file>`,
  usesWallet: false,
  async run(args, { env, terminal, signal }) {
    const { values, positionals } = readArguments(args, {
      ...COMMON_OPTIONS,
      'token-file': { type: 'string' },
    })
    const digest = readId(positionals, 'digest')
    const token = await readSecret({
      variable: 'TRADING_RELAY_TOKEN',
      value: env.TRADING_RELAY_TOKEN,
      option: 'token-file',
      file: values['token-file'],
    })
    const { http } = connectServer(values, env, withToken(token))
    terminal.result(reportOf(await http.get(`/relay/${digest}`, receiptSchema, { signal })))
    return EXIT.done
  },
}

function withToken(token: string): typeof fetch {
  return (url, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${token}`)
    // Following a redirect would send the token to another host.
    return fetch(url, { ...init, headers, redirect: 'error' })
  }
}

function reportOf(receipt: Receipt): Report {
  const { digest, primaryType, target, status, txHash, blockNumber, gasUsed, error } = receipt
  const args = Object.entries(error?.args ?? {}).map(([name, value]) => `${name} ${value}`)
  return {
    json: { ...receipt, gasUsed: gasUsed?.toString() ?? null },
    blocks: [
      {
        kind: 'fields',
        fields: [
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
        ],
      },
    ],
  }
}
