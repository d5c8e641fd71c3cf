"""Where the modal data of flexible bodies come from. Each source gives a `mbdy.engine.flexible.modal_body.ModalBody`.

Generators: `mbdy.engine.flexible.beam.beam`, `mbdy.engine.flexible.plate.plate` and
`mbdy.engine.flexible.torsion.torsion`. Files: `mbdy.engine.flexible.sid.read_sid` and ``write_sid``,
`mbdy.engine.flexible.flex42.read_42`; both by `mbdy.engine.flexible.model_files.modal_file`. Finite elements:
`mbdy.engine.flexible.reduction.reduce` of a `mbdy.engine.flexible.finite_elements.FiniteElements`, which
``read_finite_elements`` there or `mbdy.engine.flexible.nastran.read_nastran` reads. Whether data can be true:
`mbdy.engine.flexible.modal.check_body`. Modes that move where a joint holds the body:
`mbdy.engine.flexible.moments.clamped`. Nothing is imported here: solvers take half a second to load.
"""
