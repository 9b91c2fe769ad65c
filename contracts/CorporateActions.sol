// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

import {Assets} from "./Assets.sol";
import {Governed} from "./Governed.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";
import {ICorporateActions} from "./interfaces/ICorporateActions.sol";
import {IEquityToken} from "./interfaces/IEquityToken.sol";

/// @title See {ICorporateActions}.
contract CorporateActions is ICorporateActions, Governed {
    /// @dev `denominator` shares become `numerator`.
    struct Ratio {
        uint64 numerator;
        uint64 denominator;
    }

    /// @inheritdoc ICorporateActions
    uint64 public constant MAX_RATIO = 10_000;

    /// @inheritdoc ICorporateActions
    uint256 public constant MAX_RATIOS = 256;

    /// @inheritdoc ICorporateActions
    uint256 public constant MAX_SUPPLY = type(uint128).max;

    /// @inheritdoc ICorporateActions
    IEquityToken public immutable token;

    /// @dev {effectiveAt} of an action in the list.
    uint64 private constant LISTED = type(uint64).max;

    Action[] private _actions;

    /// @dev Of each symbol that it has had, so that shares under a former name follow as well.
    mapping(bytes32 symbol => Ratio[]) private _ratios;

    mapping(bytes32 symbol => bytes32) private _formerNameOf;

    mapping(uint32 entitlement => bool) private _isPaid;

    /// @inheritdoc ICorporateActions
    mapping(bytes32 digest => uint64) public effectiveAt;

    /// @inheritdoc ICorporateActions
    mapping(bytes32 symbol => bool) public isRetired;

    /// @inheritdoc ICorporateActions
    bytes32 public listHash;

    /// @inheritdoc ICorporateActions
    mapping(bytes32 hash => uint256) public countAt;

    constructor(IAuthority authority_, IEquityToken token_) Governed(authority_) {
        token = token_;
    }

    /// @inheritdoc ICorporateActions
    function propose(Action calldata action) external onlyOwner {
        require(_isWellFormed(action), MalformedAction());
        bytes32 digest = digestOf(action);
        require(effectiveAt[digest] == 0, ActionKnown(digest));
        uint64 from = uint64(Math.max(block.timestamp + authority.rotationDelay(), action.recordAt));
        effectiveAt[digest] = from;
        emit ActionProposed(digest, action.symbol, action, from);
    }

    /// @inheritdoc ICorporateActions
    function withdraw(bytes32 digest) external onlyOwner {
        _requireProposed(digest);
        delete effectiveAt[digest];
        emit ActionWithdrawn(digest);
    }

    /// @inheritdoc ICorporateActions
    function enact(Action calldata action) external {
        authority.requireNotPaused();
        bytes32 digest = digestOf(action);
        _requireProposed(digest);
        uint64 from = effectiveAt[digest];
        require(block.timestamp >= from, ActionTooEarly(from, block.timestamp));
        effectiveAt[digest] = LISTED;
        emit ActionEnacted(_actions.length, digest, action.symbol, action);
        _actions.push(action);
        bytes32 hash = keccak256(abi.encode(listHash, digest));
        listHash = hash;
        countAt[hash] = _actions.length;
        _apply(action);
    }

    /// @inheritdoc ICorporateActions
    function digestOf(Action calldata action) public pure returns (bytes32) {
        return keccak256(abi.encode(action));
    }

    /// @inheritdoc ICorporateActions
    function count() external view returns (uint256) {
        return _actions.length;
    }

    /// @inheritdoc ICorporateActions
    function requirePrefix(bytes32 got) external view {
        // Not by `require`, which would read the error's arguments in each write.
        if (got != 0 && countAt[got] == 0) revert ActionsConflict(listHash, got);
    }

    /// @inheritdoc ICorporateActions
    function requireWhole(bytes32 got) external view {
        require(got == listHash, ActionsConflict(listHash, got));
    }

    /// @inheritdoc ICorporateActions
    function list(uint256 from, uint256 to) external view returns (Action[] memory actions) {
        actions = new Action[](to - from);
        for (uint256 i = from; i < to; i++) actions[i - from] = _actions[i];
    }

    /// @inheritdoc ICorporateActions
    function carry(bytes32 symbol, uint256 amount, uint256 from)
        external
        view
        returns (uint256 carried, uint16 ratios)
    {
        Ratio[] storage all = _ratios[symbol];
        ratios = uint16(all.length);
        carried = amount;
        for (uint256 i = from; i < ratios && carried > 0; i++) {
            Ratio storage ratio = all[i];
            // No amount on chain is above its supply, which {enact} bounds after each ratio: the product fits.
            carried = carried * ratio.numerator / ratio.denominator;
        }
    }

    function _apply(Action calldata action) private {
        Kind kind = action.kind;
        if (kind == Kind.ENTITLEMENT) return;
        if (kind == Kind.PAYMENT) {
            require(!_isPaid[action.entitlement], DividendPaid(action.entitlement));
            _isPaid[action.entitlement] = true;
            return;
        }
        bytes32 symbol = action.symbol;
        _requireCurrent(symbol);
        if (_isRatio(kind)) {
            for (; symbol != 0; symbol = _formerNameOf[symbol]) {
                require(_ratios[symbol].length < MAX_RATIOS, TooManyRatios(symbol));
                _ratios[symbol].push(Ratio(action.numerator, action.denominator));
                uint256 supply = token.totalSupply(symbol);
                require(supply <= MAX_SUPPLY, SupplyTooLarge(symbol, supply));
            }
            return;
        }
        isRetired[symbol] = true;
        if (kind == Kind.SYMBOL_CHANGE) {
            bytes32 successor = action.successor;
            _requireCurrent(successor);
            require(_formerNameOf[successor] == 0, SymbolRetired(successor));
            _formerNameOf[successor] = symbol;
        }
    }

    function _isWellFormed(Action calldata action) private view returns (bool) {
        Kind kind = action.kind;
        if (action.recordAt == LISTED) return false;
        _requireEquity(action.symbol);
        if (kind == Kind.SYMBOL_CHANGE) {
            _requireEquity(action.successor);
            if (action.successor == action.symbol) return false;
        } else if (action.successor != 0) {
            return false;
        }
        if (kind == Kind.PAYMENT) {
            if (action.entitlement >= _actions.length || action.denominator == 0) return false;
            Action storage dividend = _actions[action.entitlement];
            return dividend.kind == Kind.ENTITLEMENT && dividend.symbol == action.symbol;
        }
        if (action.entitlement != 0) return false;
        (uint256 numerator, uint256 denominator) = (action.numerator, action.denominator);
        if (!_isRatio(kind)) return numerator == 0 && denominator == 0;
        return numerator > 0 && denominator > 0 && numerator != denominator && numerator <= denominator * MAX_RATIO
            && denominator <= numerator * MAX_RATIO;
    }

    function _isRatio(Kind kind) private pure returns (bool) {
        return kind == Kind.SPLIT || kind == Kind.STOCK_DIVIDEND;
    }

    function _requireEquity(bytes32 symbol) private pure {
        Assets.requireName(symbol);
        require(symbol != Assets.USDC, MalformedAction());
    }

    function _requireProposed(bytes32 digest) private view {
        uint64 from = effectiveAt[digest];
        require(from != 0, NoAction(digest));
        require(from != LISTED, ActionKnown(digest));
    }

    function _requireCurrent(bytes32 symbol) private view {
        require(!isRetired[symbol], SymbolRetired(symbol));
    }
}
