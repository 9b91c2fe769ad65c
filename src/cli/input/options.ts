import type { Command } from 'commander'

/** The options of a command that asks the server. */
export interface ServerOptions {
  readonly server?: string
}

/** The options of a command that reads the chain. */
export interface NodeOptions {
  readonly rpc?: string
}

/** The options of a command that uses a wallet. */
export interface WalletOptions extends ServerOptions, NodeOptions {
  readonly keyFile?: string
  readonly portfolioKeys?: string
  readonly enclaveKey?: string
  readonly escrow?: string
  readonly policy?: string
  readonly allowUnattested?: boolean
}

/** Adds the options of every command. createProgram looks for them itself, as it does before the command's name. */
export function addCommonOptions(command: Command): Command {
  return command
    .option('--json', 'results and failures as one line of JSON each; amounts in base units')
    .option('--quiet', 'no progress on standard error')
}

/** Adds a command that asks the server. */
export function addServerCommand(parent: Command, name: string, summary: string, about = summary): Command {
  const command = parent.command(name).summary(summary).description(about)
  return addCommonOptions(command.option('--server <url>', 'the server (TRADING_SERVER_URL)'))
}

export const RPC_OPTION = ['--rpc <url>', 'a node of the chain (TRADING_RPC_URL)'] as const

/** Adds a command that uses a wallet. */
export function addWalletCommand(parent: Command, name: string, summary: string, about = summary): Command {
  return addServerCommand(parent, name, summary, about)
    .option(...RPC_OPTION)
    .option(
      '--key-file <file>',
      "holds the wallet's private key, readable by its owner alone (TRADING_KEY_FILE); or the key itself in " +
        'TRADING_PRIVATE_KEY. It is never taken from an argument.',
    )
    .option(
      '--portfolio-keys <file>',
      'the drawn portfolio keys (TRADING_PORTFOLIO_KEYS): "key --help". Default: the derived key.',
    )
    .option(
      '--enclave-key <hex>',
      "the enclave's public key (TRADING_ENCLAVE_KEY), from a source other than the server",
    )
    .option('--escrow <address>', "the escrow's address (TRADING_ESCROW), from such a source too")
    .option(
      '--policy <file>',
      'the programs that the enclave may be (TRADING_POLICY), in place of its key: JSON as docs/attestation.md has it',
    )
    .option(
      '--allow-unattested',
      'believes the server in what is neither pinned nor measured (TRADING_ALLOW_UNATTESTED=true): for trials',
    )
}
