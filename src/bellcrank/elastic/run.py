"""Simulate elastic bodies in dynamic contact."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from bellcrank.base.progress_bar import ProgressBar
from bellcrank.elastic.active_set import DirectActiveSet
from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.interface import Contact, Interface, ObstacleInterface
from bellcrank.elastic.mortar import MortarInterface
from bellcrank.elastic.obstacles import Obstacle
from bellcrank.elastic.problem import ContactSolver
from bellcrank.elastic.recording import Recording
from bellcrank.elastic.resolution import PatchNote, patch_note
from bellcrank.elastic.result import ContactPoints, ElasticReport, ElasticResult
from bellcrank.elastic.schemes import Scheme
from bellcrank.elastic.stepping import Compatibility, Stepper
from bellcrank.errors import ModelError
from bellcrank.sparse.progress import factorising

_BLOWN = 1e6
"""Growth of the energy after which a run counts as diverged."""


class StepNote(UserWarning):
    """A step that is accepted, but coarse."""


def simulate(
    bodies: ElasticBody | Sequence[ElasticBody],
    contacts: Obstacle | Contact | Sequence[Obstacle | Contact],
    duration: float,
    step: float,
    *,
    scheme: Scheme | None = None,
    solver: ContactSolver | None = None,
    compatibility: Compatibility | None = None,
    frames: int = 60,
    progress: bool | Callable[[float], None] = False,
    name: str = "elastic contact",
) -> ElasticResult:
    """Simulate elastic bodies in contact with obstacles or with each other.

    contacts: an obstacle stands for a frictionless contact of every body with it. duration, step: [s]. scheme: by
    default Newmark's method. solver: by default the direct active set. compatibility: whether velocities and
    accelerations are made compatible at the contact; by default both. frames: whole fields kept, spread over the run.
    progress: a bar, for the factorisation too, with the time and memory it will take; or a function of the share done.
    name: of the run, for its pictures. An interruption (Ctrl-C) ends the run and keeps the steps made so far.
    """
    listed = (bodies,) if isinstance(bodies, ElasticBody) else tuple(bodies)
    pairs = _contacts(listed, contacts)
    _check_times(duration, step)
    began = time.perf_counter()
    system = Assembled(listed)
    if np.any(system.held_at != 0.0):
        raise ModelError("supports that displace belong to elastic.press; in a simulation they hold at zero")
    interfaces = tuple(_interface(contact, system) for contact in pairs)
    notes = _step_notes(pairs, step)
    for note in notes:
        warnings.warn(note, StepNote, stacklevel=2)
    with factorising(name, progress is True):
        stepper = Stepper(
            system,
            interfaces,
            scheme or Scheme(),
            step,
            solver or DirectActiveSet(),
            compatibility or Compatibility(),
        )
    ready = time.perf_counter()
    steps = max(1, round(duration / step))
    recording = Recording(system, interfaces, max(1, steps // max(frames, 1)))
    status = _steps(stepper, recording, steps, progress)
    report = ElasticReport(
        status, len(recording.time) - 1, system.unknowns, len(stepper.compliance.nodes), ready - began,
        time.perf_counter() - ready,
    )  # fmt: skip
    if status == "diverged":
        # Nothing that failed passes silently: the result is kept for a look at where it went wrong.
        notes = (*notes, _diverged(recording.time[-1], step))
        warnings.warn(notes[-1], StepNote, stacklevel=2)
    for note in _patch_notes(pairs, interfaces, recording):
        notes = (*notes, note)
        warnings.warn(note, PatchNote, stacklevel=2)
    points = tuple(ContactPoints(i.places, i.areas) for i in interfaces)
    return ElasticResult(listed, pairs, report, notes, system, points, recording, name)


def _patch_notes(
    contacts: Sequence[Contact], interfaces: Sequence[Interface], recording: Recording
) -> list[str]:
    """Contacts whose patch the mesh does not resolve at their largest force."""
    found = []
    for k, (contact, interface) in enumerate(zip(contacts, interfaces, strict=True)):
        forces = np.array([normal[k] for normal in recording.normal])
        touching, own, _ = recording.points[int(np.argmax(forces))]
        mine = (touching >= recording.first[k]) & (touching < recording.first[k + 1])
        pressed = np.abs(own[mine, 0])
        if pressed.sum() > 0.0:
            places = interface.places[touching[mine] - recording.first[k]]
            note = patch_note(contact, float(forces.max()), pressed @ places / pressed.sum())
        else:
            times = [recording.time[step] for step in recording.frame_steps]
            gaps = np.array([interface.gap(u, t) for u, t in zip(recording.frames, times, strict=True)])
            nearest = int(np.argmin(gaps.min(axis=0)))
            note = patch_note(contact, 0.0, interface.places[nearest], float(gaps.min()))
        if note is not None:
            found.append(note)
    return found


def _steps(
    stepper: Stepper, recording: Recording, steps: int, progress: bool | Callable[[float], None]
) -> str:
    report, done = _reporter(progress)
    status = "finished"
    try:
        now = stepper.start()
        recording.add(now)
        scale = max(recording.kinetic[0], 1e-300)
        for k in range(steps):
            now = stepper.advance(now)
            recording.add(now)
            report((k + 1) / steps)
            scale = max(scale, abs(float(recording.works[-1].min())), float(recording.works[-1].max()))
            energy = recording.kinetic[-1] + recording.strain[-1]
            if not math.isfinite(energy) or energy > _BLOWN * scale:
                status = "diverged"
                break
    except KeyboardInterrupt:
        status = "interrupted"
    finally:
        done()
    recording.finish()
    return status


def _diverged(t: float, step: float) -> str:
    return (
        f"the energy grew without bound at t = {t:.6g} s, and the run ended there; keep both compatibilities, take "
        f"another step than {step:.3g} s, or a scheme with numerical damping (elastic.generalised_alpha)"
    )


def _reporter(progress: bool | Callable[[float], None]) -> tuple[Callable[[float], None], Callable[[], None]]:
    if callable(progress):
        return progress, lambda: None
    if not progress:
        return lambda share: None, lambda: None
    bar = ProgressBar(1.0, "elastic contact", progress, patience=0.0)
    return bar.show, bar.close


def _contacts(
    bodies: Sequence[ElasticBody], contacts: Obstacle | Contact | Sequence[Obstacle | Contact]
) -> tuple[Contact, ...]:
    listed = (contacts,) if isinstance(contacts, (Obstacle, Contact)) else tuple(contacts)
    found: list[Contact] = []
    for contact in listed:
        found += [contact] if isinstance(contact, Contact) else [Contact(body, contact) for body in bodies]
    names = [c.name for c in found if c.name]
    if len(set(names)) < len(names):
        raise ModelError(f"contacts need different names, not {', '.join(names)}")
    if not found:
        raise ModelError("nothing can come into contact: name an obstacle or a Contact of two bodies")
    return tuple(found)


def _interface(contact: Contact, system: Assembled) -> Interface:
    system.nodes_of(contact.body)
    if isinstance(contact.against, ElasticBody):
        return MortarInterface(contact, system)
    return ObstacleInterface(contact, system)


def _check_times(duration: float, step: float) -> None:
    if not (math.isfinite(step) and step > 0.0):
        raise ModelError(f"the step must be positive, not {step}")
    if not (math.isfinite(duration) and duration >= step):
        raise ModelError(f"the duration {duration} s must be at least one step, {step} s")


def _step_notes(contacts: Sequence[Contact], step: float) -> tuple[str, ...]:
    """A step is too large for the wave when it passes more than a tenth of the body in it."""
    notes = []
    for body in {id(c.body): c.body for c in contacts}.values():
        crossing = float(np.ptp(body.nodes, axis=0).max()) / body.material.pressure_wave_speed
        if step > 0.1 * crossing:
            notes.append(
                f"a step of {step:.3g} s is large for {body.name!r}, which a wave crosses in {crossing:.3g} s; "
                f"waves will be smeared. Suggested step: {crossing / 40.0:.2g} s"
            )
    return tuple(notes)
