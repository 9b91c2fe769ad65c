import type { Command } from './command.js'
import { EXIT_CODES_HELP } from './exitCodes.js'
import { PROGRAM } from './terminal/terminal.js'

const COMMON = `  --server <url>           the server (TRADING_SERVER_URL)
  --json                   results and failures as one line of JSON each; amounts in base units
  --quiet                  no progress on standard error
  --help`

const WALLET = `  --rpc <url>              a node of the chain (TRADING_RPC_URL)
  --key-file <file>        holds the wallet's private key, readable by its owner alone (TRADING_KEY_FILE); or the key
                           itself in TRADING_PRIVATE_KEY. It is never taken from an argument.
  --portfolio-keys <file>  the drawn portfolio keys (TRADING_PORTFOLIO_KEYS): "key --help". Default: the derived key.
  --enclave-key <hex>      the enclave's public key (TRADING_ENCLAVE_KEY) and the escrow's address (TRADING_ESCROW), from
  --escrow <address>       a source other than the server. Without them the client trusts the server.`

export function generalHelp(commands: readonly Command[]): string {
  const listed = commands.map(({ name, summary }) => `  ${name.padEnd(11)} ${summary}`)
  return [
    `Usage: ${PROGRAM} <command> [options]`,
    '',
    ...listed,
    '',
    'Options:',
    WALLET,
    COMMON,
    '',
    `"${PROGRAM} <command> --help" shows details. Results go to standard output: aligned on a terminal, separated by tabs`,
    'elsewhere. Progress and failures go to standard error.',
    '',
    EXIT_CODES_HELP,
    '',
  ].join('\n')
}

export function commandHelp({ help, usesWallet }: Command): string {
  const [forms = '', ...texts] = help.split('\n\n')
  const usage = forms
    .split('\n')
    .map((form, index) => `${index === 0 ? 'Usage: ' : '       '}${PROGRAM} ${form}`)
    .join('\n')
  return [
    [usage, ...texts].join('\n\n'),
    '',
    ...(usesWallet ? [WALLET] : []),
    COMMON,
    '',
    EXIT_CODES_HELP,
    '',
  ].join('\n')
}
