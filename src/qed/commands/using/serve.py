"""``qed serve``: a saved model behind a small JSON endpoint, on this machine alone unless told otherwise.

``GET /schema`` says what a row has to have, ``GET /certificate`` what is proven of the model, and ``POST /predict`` takes rows,
``{"rows": [{"age": 41, "city": "Graz"}], "level": 0.9}``, and gives predictions, with intervals where the model is calibrated, and notes
about what is unlike the rows of the fit. A request has limits (bytes, rows, seconds, and how many at a time), a name of another host is
refused, so that no web page can reach the model through a browser, and an error is a sentence, never a trace of the code.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from socket import gethostname
from threading import BoundedSemaphore
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.errors import InputError, QedError, shown
from qed.base.saving.models import load
from qed.commands.predict import answered, check_asked, columns_of
from qed.commands.using.strange import Strange
from qed.features.tables.columns import DateColumn, LevelColumn, NumberColumn

# Seconds that a connection may take.
PATIENCE = 30
KINDS = {NumberColumn: "number", LevelColumn: "category", DateColumn: "date"}
MOST_LEVELS, MOST_DIGITS = 50, 18
ANYWHERE = ("", "0.0.0.0", "::")


@dataclass(frozen=True)
class Limits:
    """What a request may have at most."""

    bytes: int = 1 << 20
    rows: int = 10_000
    at_once: int = 4


class Served:
    """A model, and what it answers; it knows nothing of the web."""

    def __init__(self, model: Any, limits: Limits | None = None) -> None:
        self.model, self.limits = model, limits or Limits()
        if not hasattr(model, "predict"):
            raise InputError(f"{type(model).__name__} predicts nothing, so there is nothing to serve.")
        inner = getattr(model, "estimator_", getattr(model, "best_estimator_", model))
        self.encoder = next(iter(getattr(inner, "changes_", ())), None)
        self.kind = type(getattr(inner, "model_", inner)).__name__
        named = getattr(model, "feature_names_in_", None)
        self.columns = (
            [f"x{j}" for j in range(model.n_features_in_)] if named is None else [str(name) for name in named]
        )

    def schema(self) -> dict[str, Any]:
        """Say what a row has to have, and what is answered."""
        learned = {int(one.place): one for one in getattr(self.encoder, "columns_", ())}
        columns = []
        for place, name in enumerate(self.columns):
            one = learned.get(place)
            kind = "number" if self.encoder is None else KINDS.get(type(one), "text" if one is not None else "not used")
            found: dict[str, Any] = {"name": name, "kind": kind}
            if isinstance(one, LevelColumn):
                found["levels"] = one.levels.tolist()[:MOST_LEVELS]
            columns.append(found)
        model = {"class": self.kind, "intervals": hasattr(self.model, "predict_interval")}
        model["sets"] = hasattr(self.model, "predict_set")
        classes = getattr(self.model, "classes_", None)
        if classes is not None:
            model["classes"] = np.asarray(classes).tolist()
        return {"model": model, "columns": columns, "limits": vars(self.limits)}

    def certificate(self) -> dict[str, Any]:
        """Say what is proven of the model, as it was at its fit."""
        found = getattr(self.model, "certificate_", None)
        if found is None:
            raise InputError("This model has no certificate.")
        shown: dict[str, Any] = found.to_dict()
        return shown

    def predict(self, content: Any) -> dict[str, Any]:
        """Predict the rows of a request."""
        if not isinstance(content, dict) or not isinstance(content.get("rows"), list):
            raise InputError('The request must be an object such as {"rows": [{...}, {...}]}.')
        strange = set(content) - {"rows", "level", "proba"}
        if strange:
            raise InputError(
                f"The request holds {sorted(strange)[0]!r}, which means nothing: rows, level and proba do."
            )
        rows, level, proba = content["rows"], content.get("level"), content.get("proba", False)
        if not 0 < len(rows) <= self.limits.rows:
            raise InputError(f"The request has {len(rows)} rows: from 1 to {self.limits.rows} are taken at a time.")
        if level is not None and not (isinstance(level, (int, float)) and 0 < level < 1):
            raise InputError(f"level must be a number above 0 and below 1, not {shown(level)}.")
        if not isinstance(proba, bool):
            raise InputError(f"proba must be true or false, not {shown(proba)}.")
        check_asked(self.model, proba=proba, interval=level)
        table = self._table(rows)
        looked = Strange()
        looked.add_rows(self.model, table)
        wanted = columns_of(self.model, table.column_names, "the request")
        found = answered(self.model, table, wanted, proba=proba, interval=level, keep=())
        answers = {name: found.column(name).to_pylist() for name in found.column_names}
        return {"predictions": answers, "notes": looked.notes()}

    def _table(self, rows: list[Any]) -> pa.Table:
        """Make a table of rows that are objects with the names of columns, or lists of their values."""
        columns: dict[str, list[Any]] = {name: [] for name in self.columns}
        for number, row in enumerate(rows):
            if isinstance(row, list) and len(row) == len(self.columns):
                row = dict(zip(self.columns, row))
            if not isinstance(row, dict):
                raise InputError(f"Row {number} must be an object, or a list of {len(self.columns)} values.")
            unknown = next((name for name in row if name not in columns), None)
            lacking = next((name for name in self.columns if name not in row), None)
            if unknown is not None or lacking is not None:
                what = f"lacks {lacking!r}" if unknown is None else f"has {unknown!r}, which the model does not know"
                raise InputError(f"Row {number} {what}. The columns are: {', '.join(map(repr, self.columns))}.")
            for name in columns:
                columns[name].append(row[name])
        return pa.table({name: _column(name, values) for name, values in columns.items()})


def _column(name: str, values: list[Any]) -> pa.Array:
    if any(isinstance(value, (dict, list)) for value in values):
        raise InputError(f"The column {name!r} must hold numbers, text, true, false or null.")
    try:
        return pa.array(values)
    except UnicodeEncodeError:
        raise InputError(f"The column {name!r} holds halves of letters (surrogates), which are no text.") from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        raise InputError(
            f"The column {name!r} holds values of different kinds: give numbers, or text, in all rows."
        ) from None


def _plain(value: Any) -> Any:
    """Give a value as JSON can hold it: what is infinite as text, what is not a number as nothing."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("infinity" if value > 0 else "-infinity")
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


class Handler(BaseHTTPRequestHandler):
    """Reads requests and writes answers."""

    server: Server
    server_version, sys_version, timeout = "qed", "", PATIENCE

    def do_GET(self) -> None:
        """Answer what is asked about the model."""
        self._answer(self._tell)

    def do_POST(self) -> None:
        """Answer rows with predictions."""
        self._answer(self._predict)

    def _answer(self, door: Callable[[], None]) -> None:
        """Refuse other hosts, and let no error out but as a sentence."""
        host = (self.headers.get("Host") or "").rsplit(":", 1)[0].strip("[]")
        if not self.server.is_own(host):
            return self._fail(HTTPStatus.FORBIDDEN, "This is not the host that was asked for.")
        try:
            door()
        except QedError as error:
            self._fail(HTTPStatus.BAD_REQUEST, str(error))
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception:  # whatever it is, nothing of the code is shown
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, "The model could not answer this request.")

    def _tell(self) -> None:
        served = self.server.served
        if self.path == "/":
            self._send(HTTPStatus.OK, {"qed": served.kind, "doors": ["/schema", "/certificate", "/predict"]})
        elif self.path == "/schema":
            self._send(HTTPStatus.OK, served.schema())
        elif self.path == "/certificate":
            self._send(HTTPStatus.OK, served.certificate())
        elif self.path == "/predict":
            self._fail(HTTPStatus.METHOD_NOT_ALLOWED, "Predictions are asked for by POST, with rows as JSON.")
        else:
            self._fail(HTTPStatus.NOT_FOUND, "There is nothing here: /schema, /certificate and /predict are the doors.")

    def _predict(self) -> None:
        most, length = self.server.served.limits.bytes, self.headers.get("Content-Length", "")
        if self.path != "/predict":
            return self._fail(HTTPStatus.NOT_FOUND, "Rows are posted to /predict.")
        if self.headers.get_content_type() != "application/json":
            return self._fail(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send JSON, with Content-Type: application/json.")
        if not (length.isascii() and length.isdigit()):
            return self._fail(HTTPStatus.LENGTH_REQUIRED, "Say how long the request is: Content-Length.")
        if len(length) > MOST_DIGITS or int(length) > most:
            return self._fail(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"At most {most} bytes are taken at a time.")
        if not self.server.places.acquire(blocking=False):
            return self._fail(HTTPStatus.SERVICE_UNAVAILABLE, "Too many requests at a time: try again.")
        try:
            self._send(HTTPStatus.OK, self.server.served.predict(_read(self.rfile.read(int(length)))))
        finally:
            self.server.places.release()

    def _fail(self, status: HTTPStatus, words: str) -> None:
        self.close_connection = True
        self._send(status, {"error": words})

    def _send(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        body = json.dumps(_plain(content)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request that is known, in JSON as well."""
        self._fail(HTTPStatus(code), f"{HTTPStatus(code).phrase}.")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of single requests."""


def _read(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InputError("The request is no JSON (which has null, and neither NaN nor Infinity).") from None


def _refuse(word: str) -> Any:
    raise ValueError(word)


class Server(ThreadingHTTPServer):
    """Serves one model."""

    daemon_threads = True

    def __init__(self, served: Served, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__((host, port), Handler)
        self.served, self.host = served, host
        self.places = BoundedSemaphore(served.limits.at_once)
        self.hosts = {host.lower()} | (
            {"localhost", "127.0.0.1", "::1"} if host in ("127.0.0.1", "localhost") else set()
        )
        if host in ANYWHERE:
            self.hosts |= {"localhost", gethostname().lower(), self.server_name.lower()}

    def is_own(self, name: str) -> bool:
        """Whether a request means this machine; one that listens everywhere is known by its numbers, which no web page can take."""
        if name.lower() in self.hosts or self.host not in ANYWHERE:
            return name.lower() in self.hosts
        try:
            return bool(ip_address(name))
        except ValueError:
            return False

    @property
    def address(self) -> str:
        """Where it is reached."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that broke."""


def serve(model_path: str, *, host: str = "127.0.0.1", port: int = 8000, limits: Limits | None = None) -> Server:
    """Load a model and open its endpoint; ``serve_forever`` answers."""
    served = Served(load(model_path), limits)
    try:
        return Server(served, host, port)
    except (OSError, OverflowError) as error:
        raise InputError(f"{host}:{port} can not be listened to ({error}): take another --port.") from None
