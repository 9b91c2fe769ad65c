import type { Command } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { UsageError } from '../failure.js'
import { readArguments, WALLET_OPTIONS } from '../input/arguments.js'
import { connectWallet } from '../input/connection.js'
import { shownTime } from '../terminal/times.js'

export const leaveCommand: Command = {
  name: 'leave',
  summary: "leaves the wallet's institution, by itself after some days",
  help: `leave --yes [options]

It takes effect after a number of days that the platform was deployed with, and cannot be put off or taken back. From
now on the wallet buys nothing; until then the rulebook still binds it. Selling and withdrawing stay open throughout.

  --yes   needed: there is no way back`,
  usesWallet: true,
  async run(args, { env, terminal }) {
    const { values, positionals } = readArguments(args, {
      ...WALLET_OPTIONS,
      yes: { type: 'boolean', default: false },
    })
    if (positionals.length > 0) throw new UsageError('leave takes no argument')
    if (!values.yes) throw new UsageError('there is no way back: give --yes to leave')
    const { client, close } = await connectWallet(values, env)
    try {
      const { txHash } = await client.membership.leave()
      const leavingAt = await client.membership.leavingAt()
      const at = leavingAt === null ? null : new Date(leavingAt * 1_000).toISOString()
      terminal.result({
        json: { txHash, leavingAt },
        blocks: [
          {
            kind: 'fields',
            fields: [
              ['transaction', txHash],
              ['leaves at', at === null ? 'left' : shownTime(at)],
            ],
          },
        ],
      })
      return EXIT.done
    } finally {
      close()
    }
  },
}
