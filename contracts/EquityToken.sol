// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {IERC6909Metadata} from "@openzeppelin/contracts/interfaces/IERC6909.sol";
import {ERC6909} from "@openzeppelin/contracts/token/ERC6909/ERC6909.sol";
import {ERC6909TokenSupply} from "@openzeppelin/contracts/token/ERC6909/extensions/ERC6909TokenSupply.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";

import {Authority} from "./Authority.sol";
import {Governed} from "./Governed.sol";
import {Names} from "./Names.sol";
import {Sweepable} from "./Sweepable.sol";

/**
 * @title Every equity in one multi-asset token (ERC-6909), with the compliance flags.
 *
 * @dev `id = uint256(bytes32 symbol)`, 9 decimals. The flags, set by the owner:
 * - KYC per wallet and freeze per symbol and wallet bind every party to a transfer (sender, receiver, and a
 *   spender who moves another's shares), except the pool;
 * - listing per symbol binds transfers between wallets only: the pool still pays out delisted symbols.
 * Minting to and burning from the pool ignore the flags. So does a payout that becomes a claim: the pool,
 * and only the pool, can always send shares to the escrow.
 */
contract EquityToken is ERC6909TokenSupply, IERC6909Metadata, Governed, Sweepable {
    using EnumerableSet for EnumerableSet.Bytes32Set;

    /// @dev The name of USDC in settlements and claims, so no equity may have it.
    bytes32 private constant USDC_SYMBOL = "USDC";

    /// @notice The escrow, which holds the shares of claims. No flag binds it.
    address public immutable escrow;

    /// @notice Whether a wallet has passed KYC.
    mapping(address wallet => bool) public isKyc;

    /// @notice Whether a wallet's holding of a symbol is frozen.
    mapping(bytes32 symbol => mapping(address wallet => bool)) public isFrozen;

    EnumerableSet.Bytes32Set private _listed;

    /// @notice A wallet's KYC flag changed.
    event KycUpdated(address indexed wallet, bool verified);

    /// @notice A symbol was listed or delisted.
    event ListingUpdated(bytes32 indexed symbol, bool listed);

    /// @notice A wallet's holding of a symbol was frozen or released.
    event FreezeUpdated(bytes32 indexed symbol, address indexed wallet, bool frozen);

    /// @notice The wallet has not passed KYC.
    error NotCleared(address wallet);

    /// @notice The wallet's holding of this symbol is frozen.
    error WalletFrozen(bytes32 symbol, address wallet);

    /// @notice The symbol is not listed.
    error NotListed(bytes32 symbol);

    /// @notice The symbol cannot be an equity's.
    error ReservedSymbol(bytes32 symbol);

    /// @notice `caller` is not the pool.
    error NotPool(address expected, address caller);

    constructor(Authority authority_, IERC20 usdc_, address pool_, address escrow_)
        Governed(authority_)
        Sweepable(usdc_, pool_)
    {
        escrow = escrow_;
    }

    modifier onlyPool() {
        require(msg.sender == pool, NotPool(pool, msg.sender));
        _;
    }

    /**
     * @notice Sets a wallet's KYC flag.
     *
     * Requirements:
     * - the caller is the owner.
     *
     * Emits {KycUpdated} when the flag changes.
     */
    function setKyc(address wallet, bool verified) external onlyOwner {
        if (isKyc[wallet] == verified) return;
        isKyc[wallet] = verified;
        emit KycUpdated(wallet, verified);
    }

    /**
     * @notice Lists or delists a symbol.
     *
     * Requirements:
     * - the caller is the owner;
     * - the symbol is a well-formed name and not `USDC`.
     *
     * Emits {ListingUpdated} when the listing changes.
     */
    function setListed(bytes32 symbol_, bool listed) external onlyOwner {
        _requireEquity(symbol_);
        bool changed = listed ? _listed.add(symbol_) : _listed.remove(symbol_);
        if (changed) emit ListingUpdated(symbol_, listed);
    }

    /**
     * @notice Freezes a wallet's holding of a symbol, or releases it. The symbol need not be listed.
     *
     * Requirements:
     * - the caller is the owner;
     * - the symbol is a well-formed name and not `USDC`.
     *
     * Emits {FreezeUpdated} when the flag changes.
     */
    function setFrozen(bytes32 symbol_, address wallet, bool frozen) external onlyOwner {
        _requireEquity(symbol_);
        if (isFrozen[symbol_][wallet] == frozen) return;
        isFrozen[symbol_][wallet] = frozen;
        emit FreezeUpdated(symbol_, wallet, frozen);
    }

    /**
     * @notice Mints shares to the pool. The symbol need not be listed: a fill may arrive after a delisting.
     * | Requirements:
     * - the caller is the pool;
     * - the symbol is a well-formed name and not `USDC`.
     */
    function mint(bytes32 symbol_, uint256 amount) external onlyPool {
        _requireEquity(symbol_);
        _mint(pool, uint256(symbol_), amount);
    }

    /**
     * @notice Burns shares of the pool.
     *
     * Requirements:
     * - the caller is the pool, and holds `amount`.
     */
    function burn(bytes32 symbol_, uint256 amount) external onlyPool {
        _burn(pool, uint256(symbol_), amount);
    }

    /// @notice Whether a symbol is listed.
    function isListed(bytes32 symbol_) external view returns (bool) {
        return _listed.contains(symbol_);
    }

    /// @notice Every listed symbol, in no particular order.
    function listedSymbols() external view returns (bytes32[] memory) {
        return _listed.values();
    }

    /// @notice The symbol as text: an equity's only name here.
    function name(uint256 id) external pure returns (string memory) {
        return _text(id);
    }

    /// @notice The symbol as text.
    function symbol(uint256 id) external pure returns (string memory) {
        return _text(id);
    }

    /// @notice Shares of every symbol have 9 decimals.
    function decimals(uint256) external pure returns (uint8) {
        return 9;
    }

    /// @inheritdoc IERC165
    function supportsInterface(bytes4 interfaceId)
        public
        view
        override(ERC6909TokenSupply, IERC165)
        returns (bool)
    {
        return interfaceId == type(IERC6909Metadata).interfaceId || super.supportsInterface(interfaceId);
    }

    /// @dev Every transfer, mint and burn passes here.
    function _update(address from, address to, uint256 id, uint256 amount) internal override {
        if (from != address(0) && to != address(0)) _requireTransferable(from, to, bytes32(id));
        super._update(from, to, id, amount);
    }

    function _requireTransferable(address from, address to, bytes32 symbol_) private view {
        if (from == pool && to == escrow) return;
        if (from != escrow) {
            _requireCleared(symbol_, from);
            if (msg.sender != from) _requireCleared(symbol_, msg.sender);
        }
        _requireCleared(symbol_, to);
        require(from == pool || from == escrow || to == pool || _listed.contains(symbol_), NotListed(symbol_));
    }

    function _requireCleared(bytes32 symbol_, address wallet) private view {
        if (wallet == pool) return;
        require(isKyc[wallet], NotCleared(wallet));
        require(!isFrozen[symbol_][wallet], WalletFrozen(symbol_, wallet));
    }

    function _requireEquity(bytes32 symbol_) private pure {
        Names.check(symbol_);
        require(symbol_ != USDC_SYMBOL, ReservedSymbol(symbol_));
    }

    function _text(uint256 id) private pure returns (string memory) {
        bytes32 word = bytes32(id);
        uint256 length = 0;
        while (length < 32 && word[length] != 0) length++;
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; i++) text[i] = word[i];
        return string(text);
    }
}
