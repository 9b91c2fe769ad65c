// Preloaded into the server's process (`node --import`), and into its threads: it dies the moment the new cursor would take the
// old one's place.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

function dying(rename) {
  return (from, to, ...rest) => {
    if (String(to).endsWith('narrator.json')) process.kill(process.pid, 'SIGKILL')
    return rename(from, to, ...rest)
  }
}

fs.promises.rename = dying(fs.promises.rename)
fs.renameSync = dying(fs.renameSync)
syncBuiltinESMExports()
