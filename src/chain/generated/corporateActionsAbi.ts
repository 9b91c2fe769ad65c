// Generated from contracts/ by `npm run contracts`. Do not edit.
export const corporateActionsAbi = [
  {
    "inputs": [
      {
        "internalType": "contract IAuthority",
        "name": "authority_",
        "type": "address"
      },
      {
        "internalType": "contract IEquityToken",
        "name": "token_",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      }
    ],
    "name": "ActionKnown",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      }
    ],
    "name": "ActionOutOfOrder",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint64",
        "name": "effectiveAt",
        "type": "uint64"
      },
      {
        "internalType": "uint256",
        "name": "currentTime",
        "type": "uint256"
      }
    ],
    "name": "ActionTooEarly",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "expected",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "got",
        "type": "bytes32"
      }
    ],
    "name": "ActionsConflict",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint32",
        "name": "entitlement",
        "type": "uint32"
      }
    ],
    "name": "DividendPaid",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "name",
        "type": "bytes32"
      }
    ],
    "name": "InvalidName",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "MalformedAction",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      }
    ],
    "name": "NoAction",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "symbol",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "supply",
        "type": "uint256"
      }
    ],
    "name": "SupplyTooLarge",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "symbol",
        "type": "bytes32"
      }
    ],
    "name": "SymbolRetired",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "successor",
        "type": "bytes32"
      }
    ],
    "name": "TooManyNames",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "symbol",
        "type": "bytes32"
      }
    ],
    "name": "TooManyRatios",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "uint256",
        "name": "index",
        "type": "uint256"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "symbol",
        "type": "bytes32"
      },
      {
        "components": [
          {
            "internalType": "enum ICorporateActions.Kind",
            "name": "kind",
            "type": "uint8"
          },
          {
            "internalType": "uint64",
            "name": "recordAt",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "numerator",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "denominator",
            "type": "uint64"
          },
          {
            "internalType": "uint32",
            "name": "entitlement",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "symbol",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "successor",
            "type": "bytes32"
          }
        ],
        "indexed": false,
        "internalType": "struct ICorporateActions.Action",
        "name": "action",
        "type": "tuple"
      }
    ],
    "name": "ActionEnacted",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "symbol",
        "type": "bytes32"
      },
      {
        "components": [
          {
            "internalType": "enum ICorporateActions.Kind",
            "name": "kind",
            "type": "uint8"
          },
          {
            "internalType": "uint64",
            "name": "recordAt",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "numerator",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "denominator",
            "type": "uint64"
          },
          {
            "internalType": "uint32",
            "name": "entitlement",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "symbol",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "successor",
            "type": "bytes32"
          }
        ],
        "indexed": false,
        "internalType": "struct ICorporateActions.Action",
        "name": "action",
        "type": "tuple"
      },
      {
        "indexed": false,
        "internalType": "uint64",
        "name": "effectiveAt",
        "type": "uint64"
      }
    ],
    "name": "ActionProposed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      }
    ],
    "name": "ActionWithdrawn",
    "type": "event"
  },
  {
    "inputs": [],
    "name": "MAX_NAMES",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "MAX_RATIO",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "",
        "type": "uint64"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "MAX_RATIOS",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "MAX_SUPPLY",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "authority",
    "outputs": [
      {
        "internalType": "contract IAuthority",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "symbol",
        "type": "bytes32"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "from",
        "type": "uint256"
      }
    ],
    "name": "carry",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "carried",
        "type": "uint256"
      },
      {
        "internalType": "uint16",
        "name": "ratios",
        "type": "uint16"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "count",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "hash",
        "type": "bytes32"
      }
    ],
    "name": "countAt",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "enum ICorporateActions.Kind",
            "name": "kind",
            "type": "uint8"
          },
          {
            "internalType": "uint64",
            "name": "recordAt",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "numerator",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "denominator",
            "type": "uint64"
          },
          {
            "internalType": "uint32",
            "name": "entitlement",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "symbol",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "successor",
            "type": "bytes32"
          }
        ],
        "internalType": "struct ICorporateActions.Action",
        "name": "action",
        "type": "tuple"
      }
    ],
    "name": "digestOf",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "pure",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      }
    ],
    "name": "effectiveAt",
    "outputs": [
      {
        "internalType": "uint64",
        "name": "",
        "type": "uint64"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "enum ICorporateActions.Kind",
            "name": "kind",
            "type": "uint8"
          },
          {
            "internalType": "uint64",
            "name": "recordAt",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "numerator",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "denominator",
            "type": "uint64"
          },
          {
            "internalType": "uint32",
            "name": "entitlement",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "symbol",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "successor",
            "type": "bytes32"
          }
        ],
        "internalType": "struct ICorporateActions.Action",
        "name": "action",
        "type": "tuple"
      }
    ],
    "name": "enact",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "symbol",
        "type": "bytes32"
      }
    ],
    "name": "isRetired",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "from",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "to",
        "type": "uint256"
      }
    ],
    "name": "list",
    "outputs": [
      {
        "components": [
          {
            "internalType": "enum ICorporateActions.Kind",
            "name": "kind",
            "type": "uint8"
          },
          {
            "internalType": "uint64",
            "name": "recordAt",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "numerator",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "denominator",
            "type": "uint64"
          },
          {
            "internalType": "uint32",
            "name": "entitlement",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "symbol",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "successor",
            "type": "bytes32"
          }
        ],
        "internalType": "struct ICorporateActions.Action[]",
        "name": "actions",
        "type": "tuple[]"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "listHash",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "symbol",
        "type": "bytes32"
      }
    ],
    "name": "namesOf",
    "outputs": [
      {
        "internalType": "bytes32[]",
        "name": "names",
        "type": "bytes32[]"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "components": [
          {
            "internalType": "enum ICorporateActions.Kind",
            "name": "kind",
            "type": "uint8"
          },
          {
            "internalType": "uint64",
            "name": "recordAt",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "numerator",
            "type": "uint64"
          },
          {
            "internalType": "uint64",
            "name": "denominator",
            "type": "uint64"
          },
          {
            "internalType": "uint32",
            "name": "entitlement",
            "type": "uint32"
          },
          {
            "internalType": "bytes32",
            "name": "symbol",
            "type": "bytes32"
          },
          {
            "internalType": "bytes32",
            "name": "successor",
            "type": "bytes32"
          }
        ],
        "internalType": "struct ICorporateActions.Action",
        "name": "action",
        "type": "tuple"
      }
    ],
    "name": "propose",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "got",
        "type": "bytes32"
      }
    ],
    "name": "requirePrefix",
    "outputs": [],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "got",
        "type": "bytes32"
      }
    ],
    "name": "requireWhole",
    "outputs": [],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "token",
    "outputs": [
      {
        "internalType": "contract IEquityToken",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "digest",
        "type": "bytes32"
      }
    ],
    "name": "withdraw",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const
